// One plot: the curves of a panel over the window.

import uPlot from "uplot";

import type { Window } from "./agent";
import type { Panel } from "./panels";
import { BY, type Parts } from "./parts";
import type { Curves } from "./replies";
import { increments, tick, time, written, type Zone } from "./units";

/** In pixels: of the first plots, and of the others. */
const [LARGE, SMALL] = [200, 90];
/** In pixels: what a page has besides a plot that fills it. */
const BESIDE = 480;
/** The value of an instant is as new as this many steps before it: rates end at a sample. */
const NEWEST_STEPS = 3;
const COLOURS = 8;

/** What happens at a plot. */
export interface PlotEvents {
  /** Part of it was marked with the mouse. */
  zoomed(window: Window): void;
  /** The instant under the mouse was clicked. */
  chosen(at_ms: number): void;
  /** The mouse is at an instant; null: it left. */
  pointed(at_ms: number | null): void;
  /** The address of the parts of the machine; of another machine there is none. */
  address?(parts: Parts): string;
}

/** What is to be seen at an instant, or in a time, on every plot. */
export interface Sign extends Window {
  kind: "mark" | "alert" | "chosen";
  text: string;
}

export type Column = (number | null)[];

/** The values of curves at the same times, in seconds since 1970. */
export interface Columns {
  times: number[];
  names: string[];
  columns: Column[];
  /** That beside the title; absent: it is made of the curves. */
  number?: number | null;
}

/** What answers are called: the name of their curve with their labels, each name once. */
export function named(panel: Panel, answers: Curves[]): Omit<Columns, "times"> {
  let names: string[] = [];
  let columns: Column[] = [];
  let number: number | null | undefined;
  answers.forEach(({ curves }, place) => {
    if (panel.curves[place]!.is_number) return void (number = newest(curves[0]?.values ?? []));
    for (const { labels, values } of curves) {
      const name = panel.curves[place]!.name.replace(/\{(\w+)\}/g, (_, label: string) => labels[label] ?? "");
      names.push(name);
      columns.push(values);
    }
  });
  if (panel.leaves_out_zeros && columns.some(is_something)) {
    names = names.filter((_, place) => is_something(columns[place]!));
    columns = columns.filter(is_something);
  }
  return { names, columns, number };
}

const is_something = (column: Column) => column.some((value) => value !== null && value !== 0);

export class Plot {
  readonly element = document.createElement("figure");
  private readonly place = document.createElement("div");
  private readonly present = document.createElement("output");
  private readonly absence = document.createElement("p");
  /** To the parts of what is plotted. */
  private readonly link = document.createElement("a");
  private plot: uPlot | null = null;
  private shown: Columns = { times: [], names: [], columns: [] };
  private signs: Sign[] = [];
  private zone: Zone = "local";

  constructor(
    readonly panel: Panel,
    private readonly events: PlotEvents,
  ) {
    const caption = document.createElement("figcaption");
    caption.append(panel.title, " ", this.present);
    if (panel.parts && events.address) {
      this.link.textContent = BY[panel.parts];
      this.link.href = events.address(panel.parts);
      caption.append(" ", this.link);
    }
    this.element.className = panel.is_large ? "large" : "small";
    this.absence.className = "absence";
    this.element.append(caption, this.place, this.absence);
    this.place.className = "plot";
    new ResizeObserver(() => this.resize()).observe(this.place);
  }

  show(columns: Columns, zone: Zone): void {
    const is_same = this.plot && zone === this.zone && columns.names.join("\n") === this.shown.names.join("\n");
    this.shown = columns;
    this.zone = zone;
    // The window may be another one.
    if (this.panel.parts && this.events.address) this.link.href = this.events.address(this.panel.parts);
    this.absence.textContent = columns.names.length === 0 ? this.panel.absent : "";
    this.place.hidden = columns.names.length === 0;
    if (!is_same) this.begin();
    else {
      this.plot!.setData(this.data());
      this.leave_out_zeros();
    }
    this.element.setAttribute("aria-label", this.words());
    this.present.textContent = this.present_words();
  }

  /** Whether there is nothing to see: no value but 0. */
  get is_quiet(): boolean {
    const is_there = this.shown.columns.length > 0 || this.panel.is_optional === true;
    return is_there && !this.shown.columns.some(is_something);
  }

  sign(signs: Sign[]): void {
    this.signs = signs;
    this.plot?.redraw(false);
  }

  end(): void {
    this.plot?.destroy();
    this.plot = null;
  }

  /** The last values in words, for those who do not see the plot. */
  private words(): string {
    const { names, columns } = this.shown;
    const last = columns.map(newest);
    const values = names.map((name, place) => `${name} ${written(last[place], this.panel.measure)}`);
    return `${this.panel.title}: ${values.join(", ") || this.panel.absent}`;
  }

  /** The number beside the title. */
  private present_words(): string {
    const { names, columns, number } = this.shown;
    if (number !== undefined) return number === null ? "" : written(number, this.panel.measure);
    const values = columns.filter((_, place) => !this.is_limit(names[place])).map(newest).filter((value) => value !== null);
    if (!this.panel.present || values.length === 0) return "";
    const present = this.panel.present === "sum" ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
    return written(present, this.panel.measure);
  }

  private get height(): number {
    if (this.panel.fills) return Math.max(LARGE, innerHeight - BESIDE);
    return this.panel.is_large ? LARGE : SMALL;
  }

  private is_limit(name: string | undefined): boolean {
    return this.panel.curves.some((curve) => curve.is_limit && curve.name === name);
  }

  /** What is 0 all the time has no place in the legend beside what is not; its colour stays its own. */
  private leave_out_zeros(): void {
    const { names, columns } = this.shown;
    const has_others = columns.some(is_something);
    this.element.querySelectorAll<HTMLElement>(".u-legend .u-series").forEach((entry, place) => {
      // The first is the time.
      if (place > 0) entry.hidden = has_others && !is_something(columns[place - 1] ?? []) && !this.is_limit(names[place - 1]);
    });
  }

  private data(): uPlot.AlignedData {
    const { times, columns } = this.shown;
    return [times, ...(this.panel.is_stacked ? stacked(columns) : columns)] as uPlot.AlignedData;
  }

  /** Draws it anew, in the colours that the page has now. */
  begin(): void {
    this.end();
    if (this.shown.names.length > 0) this.plot = new uPlot(this.options(), this.data(), this.place);
    this.leave_out_zeros();
  }

  private options(): uPlot.Options {
    const { measure, is_stacked } = this.panel;
    const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const series: uPlot.Series[] = this.shown.names.map((name, place) => {
      const own = this.panel.curves.find((curve) => curve.name === name);
      const stroke = colour(own?.colour ?? `--curve-${place % COLOURS}`);
      return {
        label: name,
        stroke,
        fill: is_stacked ? stroke : undefined,
        width: is_stacked ? 0 : own?.is_limit ? 1 : 1.5,
        dash: place < COLOURS && !own?.is_limit ? undefined : [6, 3],
        points: { show: false },
        // Stacked columns are sums: the value of one is in its own column.
        value: (_, __, ___, at) => written(this.value(place, at), measure),
      };
    });
    return {
      width: this.place.clientWidth || 400,
      height: this.height,
      tzDate: (at) => (this.zone === "utc" ? uPlot.tzDate(new Date(at * 1000), "Etc/UTC") : new Date(at * 1000)),
      cursor: { sync: { key: "window" }, drag: { x: true, y: false, setScale: false } },
      // Each is filled down to the one below it.
      bands: is_stacked ? series.slice(1).map((_, place) => ({ series: [place + 2, place + 1] })) : [],
      scales: { y: { range: (_, least, most) => [Math.min(0, least ?? 0), most > 0 ? most * 1.05 : 1] } },
      axes: [
        { ...axis, size: 28, space: 72, values: (_, splits, __, ___, step_s) => splits.map((at) => tick(at * 1000, step_s, this.zone)) },
        { ...axis, size: 72, incrs: increments(measure), values: (_, values) => values.map((value) => written(value, measure)) },
      ],
      series: [{ label: "at", value: (_, at) => time((at ?? this.shown.times.at(-1) ?? 0) * 1000, this.zone) }, ...series],
      hooks: {
        setSelect: [(plot) => this.selected(plot)],
        setCursor: [(plot) => this.pointed(plot)],
        draw: [(plot) => this.draw_signs(plot)],
        ready: [(plot) => plot.over.addEventListener("click", () => this.clicked(plot))],
      },
    };
  }

  /** That under the cursor, else the newest one. */
  private value(place: number, at: number | null): number | null | undefined {
    const column = this.shown.columns[place];
    return at === null ? column && newest(column) : column?.[at];
  }

  private draw_signs(plot: uPlot): void {
    const { ctx, bbox } = plot;
    ctx.save();
    for (const { kind, from_ms, to_ms } of this.signs) {
      const [from, to] = [from_ms, to_ms].map((at_ms) => plot.valToPos(at_ms / 1000, "x", true)) as [number, number];
      const left = Math.max(from, bbox.left);
      const right = Math.min(to, bbox.left + bbox.width);
      if (right < left) continue;
      ctx.fillStyle = colour(`--${kind}`);
      const line = Math.max(1, devicePixelRatio);
      // An alert is a bar at the top for as long as it fired; the others are lines.
      if (kind === "alert") ctx.fillRect(left, bbox.top, Math.max(right - left, 3 * line), 4 * line);
      else ctx.fillRect(left, bbox.top, line, bbox.height);
    }
    ctx.restore();
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const at = (x: number) => plot.posToVal(x, "x") * 1000;
    this.events.zoomed({ from_ms: at(left), to_ms: at(left + width) });
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  private under_cursor(plot: uPlot): number | null {
    const at = plot.cursor.idx === null || plot.cursor.idx === undefined ? undefined : this.shown.times[plot.cursor.idx];
    return at === undefined ? null : at * 1000;
  }

  private pointed(plot: uPlot): void {
    if (plot.cursor.event) this.events.pointed(plot.cursor.left! < 0 ? null : this.under_cursor(plot));
  }

  private clicked(plot: uPlot): void {
    const at_ms = this.under_cursor(plot);
    if (at_ms !== null) this.events.chosen(at_ms);
  }

  private resize(): void {
    const width = this.place.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
  }
}

/** The value at the end of a column; null if it ended before. */
const newest = (column: Column): number | null => column.slice(-NEWEST_STEPS).findLast((value) => value !== null) ?? null;

/** A colour of the style sheet. */
const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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
