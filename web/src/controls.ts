// Buttons and keys: each changes what is shown.

import { button, copies, element } from "./element";
import { listen } from "./keys";
import { GROUPINGS, SPANS, type View } from "./view";

export interface Actions {
  view: () => View;
  go: (change: Partial<View>) => void;
  /** Moves the window by so many of its lengths. */
  move: (spans: number) => void;
  /** Another instant, so many steps away. */
  step: (count: number) => void;
  /** Makes the window longer or shorter. */
  scale: (factor: number) => void;
  mark: () => void;
  /** Saves what is shown as a file. */
  save: () => void;
  /** The address of what is shown now. */
  address: () => string;
  /** Finds tasks, checks or machines. */
  find: () => void;
  explore: () => void;
}

export class Controls {
  /** Buttons show what is chosen. */
  private readonly shown: (() => void)[] = [];

  constructor(private readonly actions: Actions) {}

  /** Shows what is chosen now. */
  show(): void {
    for (const show of this.shown) show();
  }

  begin(): void {
    const { view, go, move, mark, save, address } = this.actions;
    const to_now = () => go({ end_ms: null, at_ms: null });
    const zone = () => go({ zone: view().zone === "utc" ? "local" : "utc" });
    element("spans").append(
      ...SPANS.map(([name, span_ms]) => this.control(name, () => view().span_ms === span_ms, () => go({ span_ms }))),
      this.control("all", () => view().span_ms === null, () => go({ span_ms: null, end_ms: null })),
      button("◀", () => move(-0.5), "earlier"),
      button("▶", () => move(0.5), "later"),
      this.control("now", () => view().end_ms === null && view().at_ms === null, to_now),
    );
    element("tools").append(
      this.control("UTC", () => view().zone === "utc", zone),
      button("mark", mark, "Set a mark at the chosen instant, or now"),
      button("save", save, "Save this view as a file, which needs no agent"),
      copies("link", address, "Copy the address of this view, which stays as it is now"),
      button("?", () => element<HTMLDialogElement>("help").showModal(), "Keys"),
    );
    element("groupings").append(...GROUPINGS.map((by) => this.control(`by ${by}`, () => view().by === by, () => go({ by }))));
    this.listen(to_now, zone);
  }

  private listen(to_now: () => void, zone: () => void): void {
    const { view, go, move, step, scale, mark, save, find, explore } = this.actions;
    listen([
      { keys: ["ArrowLeft"], words: "the instant before", act: () => step(-1) },
      { keys: ["ArrowRight"], words: "the next instant", act: () => step(1) },
      { keys: ["PageUp", "["], words: "half a window earlier", act: () => move(-0.5) },
      { keys: ["PageDown", "]"], words: "half a window later", act: () => move(0.5) },
      { keys: ["+", "="], words: "closer", act: () => scale(0.5) },
      { keys: ["-"], words: "from further away", act: () => scale(2) },
      { keys: ["n"], words: "now", act: to_now },
      { keys: ["Escape"], words: "no instant: the end of the window", act: () => go({ at_ms: null }) },
      ...SPANS.map(([name, span_ms], place) => ({ keys: [String(place + 1)], words: `the last ${name}`, act: () => go({ span_ms }) })),
      { keys: ["0"], words: "all of history", act: () => go({ span_ms: null, end_ms: null }) },
      { keys: ["g"], words: "the next grouping of tasks", act: () => go({ by: GROUPINGS[(GROUPINGS.indexOf(view().by) + 1) % GROUPINGS.length]! }) },
      { keys: ["/"], words: "find what is listed", act: find },
      { keys: ["m"], words: "set a mark", act: mark },
      { keys: ["s"], words: "save this view as a file", act: save },
      { keys: ["o"], words: "the machine", act: () => go({ place: "machine", parts: null }) },
      { keys: ["c"], words: "checks", act: () => go({ place: "checks", check: "", find: "" }) },
      { keys: ["a"], words: "alerts", act: () => go({ place: "alerts" }) },
      { keys: ["e"], words: "explore", act: explore },
      { keys: ["u"], words: "UTC, or the local time", act: zone },
    ]);
  }

  private control(text: string, is_chosen: () => boolean, act: () => void, title = ""): HTMLButtonElement {
    const made = button(text, act, title);
    this.shown.push(() => (made.ariaPressed = String(is_chosen())));
    return made;
  }
}
