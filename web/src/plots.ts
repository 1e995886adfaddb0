// All plots of a view: they are asked for together, and go on with what happens at every tick.

import * as agent from "./agent";
import type { Steps, Window } from "./agent";
import type { Panel } from "./panels";
import { Plot, named, type Column, type PlotEvents, type Sign } from "./plot";
import type { Answers, Curves } from "./replies";
import type { Zone } from "./units";

/** More steps than this are more than a screen has. */
const MAX_STEPS = 400;
/** Rates need two ticks, and more where one may be late. */
const MIN_RANGE_MS = 4_000;
/** That of counters that are read every ten seconds. */
const MIN_SLOW_RANGE_MS = 30_000;
/** Values that come by themselves are those of the last half minute. */
const MAX_LIVE_STEP_MS = 15_000;

/** A whole number of seconds, so that the same instants are asked for again; no less than ticks lie apart. */
export function steps_of({ from_ms, to_ms }: Window, tick_ms: number): Steps {
  const step_s = Math.max(1, Math.round(tick_ms / 1000), Math.ceil((to_ms - from_ms) / MAX_STEPS / 1000));
  const step_ms = step_s * 1000;
  const first_ms = Math.ceil(from_ms / step_ms) * step_ms;
  return { from_ms: first_ms, to_ms: Math.max(first_ms, Math.floor(to_ms / step_ms) * step_ms), step_ms };
}

/** The expressions of a panel with the range that suits steps in place of `[W]`, of counters that are read rarely in place of `[SLOW]`. */
export function expressions(panel: Panel, { step_ms }: Steps): string[] {
  const range_ms = Math.max(MIN_RANGE_MS, 2 * step_ms + 500);
  const slow_ms = Math.max(MIN_SLOW_RANGE_MS, range_ms);
  return panel.curves.map(({ expression }) => expression.replaceAll("[W]", `[${range_ms}ms]`).replaceAll("[SLOW]", `[${slow_ms}ms]`));
}

export class Plots {
  private readonly plots: Plot[];
  private steps: Steps = { from_ms: 0, to_ms: 0, step_ms: 1000 };
  private answers: Curves[][] = [];
  private zone: Zone = "local";
  /** The plots in which nothing is to be seen are behind this. */
  private readonly quiet = document.createElement("details");
  private readonly quiet_title = document.createElement("summary");

  constructor(
    private readonly place: HTMLElement,
    panels: Panel[],
    private readonly events: PlotEvents,
    private readonly ask = agent.plots,
  ) {
    this.plots = panels.map((panel) => new Plot(panel, this.events));
    this.quiet.append(this.quiet_title);
    place.replaceChildren(...this.plots.map((plot) => plot.element), this.quiet);
    this.quiet.hidden = true;
  }

  /** Asks for a window and draws it. */
  async show(window: Window, tick_ms: number, zone: Zone, signal: AbortSignal): Promise<void> {
    const steps = steps_of(window, tick_ms);
    const wanted = this.plots.map(({ panel }) => expressions(panel, steps));
    const { answers } = await this.ask(wanted.flat(), steps, signal);
    this.steps = steps;
    this.zone = zone;
    let first = 0;
    this.answers = wanted.map((one) => answers.slice(first, (first += one.length)));
    this.draw();
  }

  /** The expressions whose values are wanted at every tick; none if the steps are too long for that. */
  live(): string[] {
    if (this.steps.step_ms > MAX_LIVE_STEP_MS) return [];
    return this.plots.flatMap(({ panel }) => expressions(panel, this.steps));
  }

  get step_ms(): number {
    return this.steps.step_ms;
  }

  /** Goes on with the values of a tick; the window keeps its length. Returns whether there are none between them and the last ones. */
  push({ from_ms: at_ms, answers }: Answers): boolean {
    const { step_ms, from_ms, to_ms } = this.steps;
    const steps = Math.floor(at_ms / step_ms) - to_ms / step_ms;
    // What was asked for is not answered yet, or something else was asked for.
    if (this.answers.length === 0 || steps < 0 || answers.length !== this.answers.flat().length) return true;
    if (steps > 1) return false;
    this.steps = { step_ms, from_ms: from_ms + steps * step_ms, to_ms: to_ms + steps * step_ms };
    const count = (to_ms - from_ms) / step_ms + 1;
    let place = 0;
    for (const of_panel of this.answers) {
      for (const curves of of_panel) go_on(curves, answers[place++]!, steps, count);
    }
    this.draw();
    return true;
  }

  sign(signs: Sign[]): void {
    for (const plot of this.plots) plot.sign(signs);
  }

  /** Draws all anew, in the colours that the page has now. */
  redraw(): void {
    for (const plot of this.plots) plot.begin();
  }

  end(): void {
    for (const plot of this.plots) plot.end();
  }

  private draw(): void {
    const { from_ms, to_ms, step_ms } = this.steps;
    const count = Math.max(0, (to_ms - from_ms) / step_ms + 1);
    const times = Array.from({ length: count }, (_, step) => (from_ms + step * step_ms) / 1000);
    this.plots.forEach((plot, place) => plot.show({ times, ...named(plot.panel, this.answers[place]!) }, this.zone));
    this.arrange();
  }

  /** Puts the plots in which all is 0 behind a line with their titles. Those that are in their place stay: a plot that moves is drawn anew. */
  private arrange(): void {
    const quiet = this.plots.filter((plot) => plot.is_quiet && !plot.panel.is_large);
    for (const plot of this.plots) {
      const wanted = quiet.includes(plot) ? this.quiet : this.place;
      if (plot.element.parentElement === wanted) continue;
      if (wanted === this.quiet) this.quiet.append(plot.element);
      else this.place.insertBefore(plot.element, this.after(plot));
    }
    this.quiet.hidden = quiet.length === 0;
    this.quiet_title.textContent = `${quiet.length} quiet: ${quiet.map(({ panel }) => panel.title.toLowerCase()).join(", ")}`;
  }

  /** What stands behind a plot that is not quiet. */
  private after(plot: Plot): HTMLElement {
    const behind = this.plots.slice(this.plots.indexOf(plot) + 1);
    return behind.find(({ element }) => element.parentElement === this.place)?.element ?? this.quiet;
  }
}

/** Moves curves by some steps, the last of which has new values. */
function go_on(curves: Curves, newest: Curves, steps: number, count: number): void {
  const key = (labels: { [key in string]: string }) => JSON.stringify(labels);
  const values = new Map(newest.curves.map(({ labels, values }) => [key(labels), { labels, value: values[0] ?? null }]));
  for (const curve of curves.curves) {
    const value = values.get(key(curve.labels))?.value ?? null;
    values.delete(key(curve.labels));
    const gap: Column = new Array(Math.min(steps, count)).fill(null);
    curve.values = [...curve.values, ...gap].slice(-count);
    if (value !== null) curve.values[count - 1] = value;
  }
  for (const { labels, value } of values.values()) {
    const column: Column = new Array(count).fill(null);
    column[count - 1] = value;
    curves.curves.push({ labels, values: column });
  }
}
