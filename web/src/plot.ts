// One plot: the curves of a panel over the window.

import uPlot from "uplot";

import * as agent from "./agent";
import type { Panel } from "./panels";
import { increments, tick, time, written } from "./units";

/** More steps than this are more than a screen has. */
const MOST_STEPS = 400;
/** Rates need two ticks, and more where one may be late. */
const LEAST_RANGE_MS = 4_000;
const COLOURS = 8;

export interface Window {
  from_ms: number;
  to_ms: number;
}

/** What happens at a plot. */
export interface PlotEvents {
  /** Part of it was marked with the mouse. */
  zoomed(window: Window): void;
  /** The instant under the mouse was clicked. */
  chosen(at_ms: number): void;
}

type Column = (number | null)[];

/** A whole number of seconds, so that the same instants are asked for again. */
export function step_of(window: Window): number {
  return Math.max(1, Math.ceil((window.to_ms - window.from_ms) / MOST_STEPS / 1000)) * 1000;
}

export class Plot {
  readonly element = document.createElement("figure");
  private readonly place = document.createElement("div");
  private plot: uPlot | null = null;
  private names: string[] = [];
  private columns: Column[] = [];
  private times: number[] = [];

  constructor(
    private readonly panel: Panel,
    private readonly events: PlotEvents,
  ) {
    const caption = document.createElement("figcaption");
    caption.textContent = panel.title;
    this.element.append(caption, this.place);
    new ResizeObserver(() => this.resize()).observe(this.place);
  }

  /** Asks for the window and draws it. */
  async show(window: Window, signal: AbortSignal): Promise<void> {
    const step_ms = step_of(window);
    const from_ms = Math.ceil(window.from_ms / step_ms) * step_ms;
    const range = `[${Math.max(LEAST_RANGE_MS, 2 * step_ms)}ms]`;
    const answers = await Promise.all(
      this.panel.curves.map((curve) =>
        agent.range(curve.expression.replaceAll("[W]", range), from_ms, window.to_ms, step_ms, signal),
      ),
    );
    const steps = Math.max(0, Math.floor((window.to_ms - from_ms) / step_ms)) + 1;
    this.times = Array.from({ length: steps }, (_, step) => (from_ms + step * step_ms) / 1000);
    const names: string[] = [];
    this.columns = [];
    answers.forEach((series, place) => {
      const curve = this.panel.curves[place]!;
      for (const one of series) {
        const column: Column = new Array(steps).fill(null);
        for (const [at, value] of one.values) {
          const step = Math.round((at * 1000 - from_ms) / step_ms);
          if (step >= 0 && step < steps) column[step] = Number(value);
        }
        this.columns.push(column);
        names.push(curve.name.replace(/\{(\w+)\}/g, (_, label: string) => one.metric[label] ?? ""));
      }
    });
    if (this.plot && names.join("\n") === this.names.join("\n")) {
      this.plot.setData(this.data());
    } else {
      this.names = names;
      this.begin();
    }
    this.element.setAttribute("aria-label", this.words());
  }

  /** The last values in words, for those who do not see the plot. */
  private words(): string {
    const last = this.columns.map((column) => column.findLast((value) => value !== null));
    const values = this.names.map((name, place) => `${name} ${written(last[place], this.panel.unit)}`);
    return `${this.panel.title}: ${values.join(", ") || "nothing was recorded"}`;
  }

  private data(): uPlot.AlignedData {
    const columns = this.panel.is_stacked ? stacked(this.columns) : this.columns;
    return [this.times, ...columns] as uPlot.AlignedData;
  }

  /** Draws it anew, in the colours that the page has now. */
  begin(): void {
    this.plot?.destroy();
    this.place.replaceChildren();
    const { unit, is_stacked } = this.panel;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const series: uPlot.Series[] = this.names.map((name, place) => {
      const stroke = colour(`--curve-${place % COLOURS}`);
      return {
        label: name,
        stroke,
        fill: is_stacked ? stroke : undefined,
        width: 1,
        points: { show: false },
        // Stacked columns are sums: the value of one is in its own column.
        value: (_, __, ___, at) => written(at === null ? null : this.columns[place]?.[at], unit),
      };
    });
    // Each is filled down to the one below it.
    const bands = is_stacked ? series.slice(1).map((_, place) => ({ series: [place + 2, place + 1] as [number, number] })) : [];
    const options: uPlot.Options = {
      width: this.place.clientWidth || 400,
      height: 160,
      cursor: { sync: { key: "window" }, drag: { x: true, y: false, setScale: false } },
      legend: { live: true },
      bands,
      scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
      axes: [
        { ...axis, size: 28, space: 64, values: (_, splits, __, ___, step_s) => splits.map((at) => tick(at * 1000, step_s)) },
        { ...axis, size: 72, incrs: increments(unit), values: (_, values) => values.map((value) => written(value, unit)) },
      ],
      series: [{ label: "at", value: (_, at) => (at === null ? "–" : time(at * 1000)) }, ...series],
      hooks: {
        setSelect: [(plot) => this.selected(plot)],
        ready: [(plot) => plot.over.addEventListener("click", () => this.clicked(plot))],
      },
    };
    this.plot = new uPlot(options, this.data(), this.place);
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const at = (x: number) => plot.posToVal(x, "x") * 1000;
    this.events.zoomed({ from_ms: at(left), to_ms: at(left + width) });
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  private clicked(plot: uPlot): void {
    const at = plot.cursor.idx === null || plot.cursor.idx === undefined ? undefined : this.times[plot.cursor.idx];
    if (at !== undefined) this.events.chosen(at * 1000);
  }

  private resize(): void {
    const width = this.place.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: 160 });
  }
}

/** Each column with all before it; unknown where nothing is known. */
function stacked(columns: Column[]): Column[] {
  const sums: Column[] = [];
  for (const column of columns) {
    const below = sums.at(-1);
    sums.push(
      column.map((value, step) => {
        const under = below?.[step] ?? null;
        return value === null && under === null ? null : (value ?? 0) + (under ?? 0);
      }),
    );
  }
  return sums;
}
