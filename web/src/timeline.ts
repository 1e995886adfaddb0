// The whole of history as one strip: where something was recorded, where alerts fired, where marks are, and the window.

import type { Window } from "./agent";
import { button, element, keep_focus, made, SVG } from "./element";
import type { Sign } from "./plot";
import { duration, time, type Zone } from "./units";

/** What the strip measures itself in. */
const WIDTH = 1000;
const HEIGHT = 20;
const MIN_WIDTH = 2;
/** Below the strip; others are in the strip alone. */
const MAX_LISTED = 12;

export interface TimelineEvents {
  /** A window was marked in the strip. */
  zoomed(window: Window): void;
  /** A mark or an alert was chosen. */
  chosen(sign: Sign): void;
}

export class Timeline {
  private readonly strip = document.createElementNS(SVG, "svg");
  private whole: Window = { from_ms: 0, to_ms: 1 };
  private from_x: number | null = null;

  constructor(private readonly events: TimelineEvents) {
    this.strip.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.strip.setAttribute("preserveAspectRatio", "none");
    this.strip.setAttribute("role", "img");
    this.strip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.strip.setPointerCapture(event.pointerId);
      this.from_x = event.offsetX;
    });
    this.strip.addEventListener("pointerup", (event) => event.button === 0 && this.marked(event));
    element("timeline").append(this.strip);
  }

  show(spans: [number, number][], window: Window, signs: Sign[], zone: Zone): void {
    this.whole = { from_ms: spans[0]?.[0] ?? 0, to_ms: Math.max(spans.at(-1)?.[1] ?? 1, window.to_ms) };
    const recorded = spans.map(([from_ms, to_ms]) => this.part("recorded", { from_ms, to_ms }));
    const marked = signs.map((sign) => this.part(sign.kind, sign));
    this.strip.replaceChildren(...recorded, ...marked, this.part("window", window));
    const length = duration(this.whole.to_ms - this.whole.from_ms);
    this.strip.setAttribute("aria-label", `${length} of history, from ${time(this.whole.from_ms, zone)} on`);
    const listed = signs.filter(({ kind }) => kind !== "chosen").slice(-MAX_LISTED);
    const list = element("signs");
    keep_focus(list, () => list.replaceChildren(...listed.map((sign) => this.item(sign, zone))));
  }

  private item(sign: Sign, zone: Zone): HTMLElement {
    const until = sign.kind === "alert" ? ` for about ${duration(sign.to_ms - sign.from_ms)}` : "";
    const text = `${time(sign.from_ms, zone)} ${sign.text}${until}`;
    return made("li", { className: sign.kind }, button(text, () => this.events.chosen(sign)));
  }

  private part(name: string, { from_ms, to_ms }: Window): SVGElement {
    const part = document.createElementNS(SVG, "rect");
    const x = (at_ms: number) => ((at_ms - this.whole.from_ms) / (this.whole.to_ms - this.whole.from_ms)) * WIDTH;
    const left = Math.max(0, Math.min(WIDTH - MIN_WIDTH, x(from_ms)));
    part.setAttribute("class", name);
    part.setAttribute("x", String(left));
    part.setAttribute("width", String(Math.max(MIN_WIDTH, Math.min(WIDTH, x(to_ms)) - left)));
    part.setAttribute("height", String(HEIGHT));
    return part;
  }

  private marked(event: PointerEvent): void {
    const width = this.strip.getBoundingClientRect().width;
    const at = (x: number) => this.whole.from_ms + (x / width) * (this.whole.to_ms - this.whole.from_ms);
    const [from_x, to_x] = [this.from_x ?? event.offsetX, event.offsetX].sort((one, other) => one - other) as [number, number];
    this.from_x = null;
    // A click is a tenth of all around it.
    const half = to_x - from_x < 4 ? width / 20 : 0;
    this.events.zoomed({ from_ms: at(Math.max(0, from_x - half)), to_ms: at(Math.min(width, to_x + half)) });
  }
}
