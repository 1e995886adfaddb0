// Checks: a list of those that are not fine, or one with its history.

import * as agent from "./agent";
import type { Window } from "./agent";
import { CheckActions } from "./check_actions";
import { grid } from "./check_grid";
import { change_log } from "./changes";
import { button, during, element, keep_focus, kept_field, link, made } from "./element";
import type { CheckDetail, CheckEntry, Checks as Found } from "./replies";
import { duration, time, type Zone } from "./units";

/** Rows with a strip of their history, which takes an expression each. */
const MAX_STRIPS = 50;
const STRIP_PARTS = 60;
const MIN_STEP_MS = 10_000;
const STATES = ["problems", "all", "critical", "unknown", "warning", "ok", "pending"];
const HEADINGS = ["check", "state", "since", "history", "says"];
/** Letters are typed faster than lists are asked for. */
const TYPED_MS = 250;

export interface CheckEvents {
  /** Another list, or another check. */
  asked: (change: { check?: string; find?: string; state?: string }) => void;
  /** Something was done about a check. */
  changed: () => void;
  address: (check: string) => string;
}

export class Checks {
  private typed = 0;
  /** What was written into the forms: they are made anew when the check changes. */
  private readonly written = { author: "", comment: "", minutes: "120" };

  private readonly actions: CheckActions;
  /** The check that is shown; empty: the list; null: neither was. */
  private shown: string | null = null;

  constructor(private readonly events: CheckEvents) {
    this.actions = new CheckActions(() => this.soon());
    const find = element<HTMLInputElement>("check-find");
    find.oninput = () => {
      clearTimeout(this.typed);
      this.typed = setTimeout(() => events.asked({ find: find.value }), TYPED_MS);
    };
  }

  async show_list(find: string, state: string, window: Window, zone: Zone, signal: AbortSignal): Promise<void> {
    this.begin("");
    const [found, changes] = await Promise.all([agent.checks(find, state, signal), agent.changes("checks", null, signal)]);
    const field = element<HTMLInputElement>("check-find");
    if (document.activeElement !== field) field.value = find;
    this.show_states(found, state);
    const strips = found.rows.map(() => made("span", { className: "strip" }));
    const head = made("tr", {}, made("th", { scope: "col" }, this.box(found.rows.map(({ name }) => name), "Choose all of these")));
    head.append(...HEADINGS.map((heading) => made("th", { scope: "col" }, heading)));
    const rows = found.rows.map((row, place) => this.line(row, strips[place]!, zone));
    const table = made("table", { className: "checks" }, made("thead", {}, head), made("tbody", {}, ...rows));
    const scroller = made("div", { className: "scroller whole", tabIndex: 0, role: "region", ariaLabel: "Checks" }, table);
    const more = found.count > found.rows.length ? `The first ${found.rows.length} of ${found.count}.` : "";
    const nothing = found.count === 0 ? "There are none." : more;
    const parts = [...(found.count > 0 ? [scroller] : []), made("p", {}, nothing)];
    const squares = grid(found.cells, this.events.address);
    element<HTMLDetailsElement>("check-grid").hidden = squares === null;
    const place = element("check-squares");
    keep_focus(place, () => place.replaceChildren(...(squares ? [squares] : [])));
    keep_focus(element("checks"), () => element("checks").replaceChildren(...parts));
    const log = element("check-changes");
    keep_focus(log, () => log.replaceChildren(change_log(changes, zone, this.events.address)));
    this.actions.show(true);
    await fill_strips(found.rows, strips, window, signal);
  }

  /** Nothing of another check, or of the list, is left while one is asked for. */
  private begin(shown: string): void {
    if (shown === this.shown) return;
    this.shown = shown;
    element("check-trouble").textContent = "";
    element("check-grid").hidden = true;
    element("check-states").replaceChildren();
    element("checks").replaceChildren();
    element("check-changes").replaceChildren();
    this.actions.show(false);
  }

  /** Returns the check, if there is one. */
  async show_one(name: string, zone: Zone, signal: AbortSignal): Promise<CheckDetail> {
    this.begin(name);
    const [detail, changes] = await Promise.all([agent.check(name, signal), agent.changes("checks", name, signal)]);
    const all = button("all checks", () => this.events.asked({ check: "" }));
    const states = element("check-states");
    keep_focus(states, () => states.replaceChildren(all));
    // A form with the focus is being filled in.
    const is_written = document.activeElement?.matches("#checks form input");
    const place = element("checks");
    if (!is_written) keep_focus(place, () => place.replaceChildren(...this.about(detail, zone)));
    element("check-changes").replaceChildren(change_log(changes, zone));
    return detail;
  }

  private show_states(found: Found, chosen: string): void {
    const { critical, unknown, warning, ok, pending } = found;
    const problems = critical + unknown + warning;
    const counts: Record<string, number> = { problems, all: problems + ok + pending, critical, unknown, warning, ok, pending };
    const choices = STATES.map((state) => {
      const choice = button(`${state} ${counts[state]}`, () => this.events.asked({ state }));
      choice.ariaPressed = String(state === chosen);
      return choice;
    });
    const place = element("check-states");
    keep_focus(place, () => place.replaceChildren(...choices));
  }

  private line(row: CheckEntry, strip: HTMLElement, zone: Zone): HTMLElement {
    const since = row.state === null ? "" : duration(Date.now() - row.since_ms);
    const cell = (...content: (Node | string)[]) => made("td", {}, ...content);
    const at = made("td", { title: row.state === null ? "" : time(row.since_ms, zone) }, since);
    return made(
      "tr",
      { className: row.is_acknowledged ? "known" : "" },
      cell(this.box([row.name], `Choose ${row.name}`)),
      cell(link(this.events.address(row.name), row.name)),
      cell(state_mark(row)),
      at,
      cell(strip),
      made("td", { title: row.text }, row.text),
    );
  }

  /** A box that chooses checks. */
  private box(names: string[], ariaLabel: string): HTMLInputElement {
    const box = made("input", { type: "checkbox", ariaLabel, checked: names.length > 0 && names.every((name) => this.actions.has(name)) });
    if (names.length === 1) box.dataset["check"] = names[0]!;
    box.onchange = () => this.actions.choose(names, box.checked);
    return box;
  }

  /** The agent looks for requests four times a second. */
  private soon(): void {
    setTimeout(this.events.changed, 500);
  }

  private about(detail: CheckDetail, zone: Zone): HTMLElement[] {
    const { entry, acknowledgement, next_ms, downtimes, long_text, figures } = detail;
    const facts: [string, string][] = [
      ["since", entry.state === null ? "" : `${time(entry.since_ms, zone)}, for ${duration(Date.now() - entry.since_ms)}`],
      ["last result", entry.state === null ? "none yet" : time(entry.result_ms, zone)],
      ["next", next_ms === null ? "passive" : time(next_ms, zone)],
      ["certain", entry.is_hard ? "yes" : `not yet: result ${entry.attempt} of ${entry.attempts}`],
      ["known", acknowledgement ?? ""],
      ["figures", figures],
    ];
    const said = facts.filter(([, text]) => text !== "").flatMap(([name, text]) => [made("dt", {}, name), made("dd", {}, text)]);
    const quiet = downtimes.map(({ number, until_ms, every, text }) =>
      made(
        "p",
        {},
        `Downtime until ${time(until_ms, zone)}${every && `, only ${every}`}. ${text} `,
        button("end it", () => this.ask("end-downtime", { number })),
      ),
    );
    return [
      made("h3", {}, entry.name, " ", state_mark(entry)),
      made("p", {}, entry.text),
      ...(long_text ? [made("pre", { className: "long-text" }, long_text)] : []),
      made("dl", {}, ...said),
      ...quiet,
      this.forms(entry, acknowledgement !== null),
    ];
  }

  private forms({ name, state, host, service }: CheckEntry, is_known: boolean): HTMLElement {
    const { written } = this;
    const author = kept_field(written, "author", { placeholder: "who", ariaLabel: "Who says so", required: true });
    const comment = kept_field(written, "comment", { placeholder: "why", ariaLabel: "Why" });
    const minutes = kept_field(written, "minutes", { type: "number", min: "1", ariaLabel: "Minutes" });
    const form = made("form", { className: "asks" }, author, comment, minutes);
    const say = (what: string, more: Record<string, string> = {}) => () => {
      if (!form.reportValidity()) return;
      // What is shown next may change.
      (document.activeElement as HTMLElement | null)?.blur();
      this.ask(what, { name, author: author.value, comment: comment.value, ...more }, () => (written.comment = ""));
    };
    form.onsubmit = (event) => event.preventDefault();
    if (state !== "OK" && state !== null) {
      form.append(is_known ? button("withdraw", say("unacknowledge")) : button("acknowledge", say("acknowledge")));
    }
    form.append(button("minutes of downtime", () => say("downtime", { minutes: minutes.value })()));
    if (host !== "" && service !== "") {
      form.append(button("of the whole host", () => say("downtime", { name: host, minutes: minutes.value })()));
    }
    form.append(button("check now", () => this.ask("now", { name })));
    return form;
  }

  private ask(what: string, parameters: Record<string, string | number>, done: () => void = () => undefined): void {
    const trouble = element("check-trouble");
    trouble.textContent = "";
    during(element("checks"), agent.ask_check(what, parameters)).then(
      () => {
        done();
        this.soon();
      },
      (error: Error) => (trouble.textContent = error.message),
    );
  }
}

function state_mark(row: CheckEntry): HTMLElement {
  const remarks = [
    ...(row.state !== null && row.state !== "OK" && !row.is_hard ? [`attempt ${row.attempt}/${row.attempts}`] : []),
    ...(row.is_acknowledged ? ["known"] : []),
    ...(row.is_flapping ? ["flapping"] : []),
    ...(row.is_stale ? ["stale"] : []),
  ];
  const state = row.state ?? "PENDING";
  return made("span", { className: `state state-${state.toLowerCase()}` }, [state, ...remarks].join(", "));
}

/** The worst state in each part of the window. */
async function fill_strips(rows: CheckEntry[], strips: HTMLElement[], window: Window, signal: AbortSignal): Promise<void> {
  const shown = rows.slice(0, MAX_STRIPS);
  if (shown.length === 0) return;
  const step_ms = Math.max(MIN_STEP_MS, Math.ceil((window.to_ms - window.from_ms) / STRIP_PARTS / 1000) * 1000);
  const queries = shown.map(({ selector }) => `max_over_time(whit_check_state${selector}[${step_ms}ms])`);
  const steps = { from_ms: window.to_ms - step_ms * (STRIP_PARTS - 1), to_ms: window.to_ms, step_ms };
  const { answers } = await agent.plots(queries, steps, signal);
  answers.forEach(({ curves }, place) => {
    const parts = Array.from({ length: STRIP_PARTS }, (_, part) => curves[0]?.values[part] ?? null);
    strips[place]!.replaceChildren(...parts.map((value) => made("i", { className: value === null ? "" : `state-${value}` })));
  });
}
