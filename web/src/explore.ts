// An expression: its plot, its values, and what is wrong in it.

import * as agent from "./agent";
import type { Window } from "./agent";
import { Completion } from "./completion";
import { copies, element, link, made } from "./element";
import { metrics_in, nearest, start } from "./explore_start";
import { Plot, type PlotEvents, type Sign } from "./plot";
import { steps_of } from "./plots";
import type { Curves, Fault } from "./replies";
import { utc_offset_s, written, type Zone } from "./units";

/** Curves of a plot; more are not told apart. */
const MAX_CURVES = 26;
/** Names that are offered for one. */
const MAX_NEAREST = 3;
/** Rows of the table. */
const MAX_ROWS = 500;

export class Explore {
  private readonly field = element<HTMLTextAreaElement>("expression");
  private readonly completion = new Completion(this.field);
  /** The expression that was shown last. */
  private asked = "";
  private plot: Plot | null = null;
  /** Suggestions and metrics are shown. */
  private has_begun = false;

  /** `address` is that of an expression, `fixed` that of what is shown now. */
  constructor(
    private readonly events: PlotEvents,
    asked: (expression: string) => void,
    private readonly address: (expression: string) => string,
    private readonly fixed: () => string,
  ) {
    const ask = () => {
      this.completion.close();
      asked(this.field.value.trim());
    };
    element("explore-form").addEventListener("submit", (event) => {
      event.preventDefault();
      ask();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      ask();
    });
  }

  focus(): void {
    this.field.focus();
  }

  async show(expression: string, window: Window, tick_ms: number, zone: Zone, signal: AbortSignal): Promise<void> {
    // What is being typed stays; what was asked gives way to what is asked now.
    if (document.activeElement !== this.field || this.field.value.trim() === this.asked) this.field.value = expression;
    this.asked = expression;
    if (expression === "") return this.begin(signal);
    const steps = steps_of(window, tick_ms);
    const { answers } = await agent.plots([expression], steps, signal);
    const answer = answers[0]!;
    this.has_begun = false;
    this.show_fault(answer.fault, expression);
    if (answer.fault) return this.clear();
    this.draw(expression, answer, steps, zone);
    if (answer.curves.length === 0) await this.explain(expression, signal);
    for (const kind of ["csv", "svg"] as const) {
      element<HTMLAnchorElement>(`download-${kind}`).href = agent.download(kind, expression, steps, utc_offset_s(steps.to_ms, zone));
    }
    element("downloads").hidden = false;
    element("copies").replaceChildren(
      copies("copy as whit query", () => `whit query ${quoted(expression)} --since ${instant(steps.from_ms)} --until ${instant(steps.to_ms)}`),
      copies("copy the address", this.fixed),
      copies("copy for Grafana", () => for_grafana(expression), "The expression, in which rates have the range that Grafana chooses"),
    );
  }

  /** Without an expression: some that matter, and what they can be made of. */
  private async begin(signal: AbortSignal): Promise<void> {
    this.show_fault(null, "");
    // What is being searched stays.
    if (this.has_begun) return;
    this.clear();
    const language = await agent.language();
    if (signal.aborted) return;
    element("explore-table").replaceChildren(...start(language, this.address));
    this.has_begun = true;
  }

  /** Says which metrics of an expression without an answer are not recorded, and which are named most like them. */
  private async explain(expression: string, signal: AbortSignal): Promise<void> {
    const { metrics } = await agent.language();
    if (signal.aborted) return;
    const unknown = metrics_in(expression).filter((word) => metrics.every(({ name }) => name !== word));
    const lines = unknown.map((word) => {
      const whole = new RegExp(`(?<![\\w:])${word}(?![\\w:])`, "g");
      const links = nearest(word, metrics, MAX_NEAREST).flatMap((name) => [" ", link(this.address(expression.replace(whole, name)), name)]);
      return made("p", {}, `No series of ${word} is recorded. Named most alike:`, ...links);
    });
    element("explore-table").prepend(...lines);
  }

  sign(signs: Sign[]): void {
    this.plot?.sign(signs);
  }

  redraw(): void {
    this.plot?.begin();
  }

  private draw(expression: string, { curves, measure }: Curves, steps: agent.Steps, zone: Zone): void {
    const panel = {
      title: expression,
      measure: measure as Plot["panel"]["measure"],
      is_stacked: false,
      is_large: true,
      fills: true,
      curves: [{ expression, name: "" }],
      absent: "No series has a value in this time.",
    };
    if (this.plot?.panel.title !== expression) {
      this.plot?.end();
      this.plot = new Plot(panel, this.events);
      element("explore-plot").replaceChildren(this.plot.element);
    }
    const times = Array.from({ length: (steps.to_ms - steps.from_ms) / steps.step_ms + 1 }, (_, step) => (steps.from_ms + step * steps.step_ms) / 1000);
    const ordered = [...curves].sort((one, other) => mean(other.values) - mean(one.values));
    const drawn = ordered.slice(0, MAX_CURVES);
    const constant = in_all(curves.map(({ labels }) => labels));
    const names = drawn.map(({ labels }) => series_name(labels, constant));
    this.plot!.show({ times, names, columns: drawn.map(({ values }) => values) }, zone);
    const rows = ordered.slice(0, MAX_ROWS).map(({ labels, values }) => {
      const figures = [values.find((value) => value !== null), values.findLast((value) => value !== null), mean(values), least(values), most(values)];
      const cells = figures.map((value) => made("td", { className: "number" }, written(value, panel.measure)));
      return made("tr", {}, ...cells, made("td", { title: series_name(labels, new Set()) }, series_name(labels, constant)));
    });
    const headings = ["first", "last", "mean", "least", "most", "series"].map((text) => made("th", { scope: "col" }, text));
    const words = curves.length > MAX_CURVES ? `${curves.length} series; the ${MAX_CURVES} with the highest means are drawn.` : "";
    const table = made("table", {}, made("thead", {}, made("tr", {}, ...headings)), made("tbody", {}, ...rows));
    element("explore-table").replaceChildren(made("p", {}, words), ...(rows.length > 0 ? [table] : []));
  }

  /** Under the place where it is. */
  private show_fault(fault: Fault | null, expression: string): void {
    this.field.setAttribute("aria-invalid", String(fault !== null));
    const place = element("fault");
    place.hidden = fault === null;
    if (fault === null) return;
    const before = expression.slice(0, fault.place ?? 0);
    const line = expression.split("\n")[before.split("\n").length - 1] ?? "";
    const column = before.length - (before.lastIndexOf("\n") + 1);
    place.textContent = fault.place === null ? fault.message : `${line}\n${" ".repeat(column)}^ ${fault.message}`;
  }

  private clear(): void {
    this.plot?.end();
    this.plot = null;
    element("explore-plot").replaceChildren();
    element("explore-table").replaceChildren();
    element("downloads").hidden = true;
    element("copies").replaceChildren();
  }
}

type Labels = { [key in string]: string };

/** The labels that have the same value in all of several series: these tell nothing apart. */
function in_all(all: Labels[]): Set<string> {
  const [first, ...others] = all;
  if (!first || others.length === 0) return new Set();
  return new Set(Object.keys(first).filter((label) => others.every((labels) => labels[label] === first[label])));
}

/** As an expression has it, without some labels. */
function series_name(labels: Labels, without: Set<string>): string {
  const { __name__: whole = "", ...others } = labels;
  const name = without.has("__name__") ? "" : whole;
  const kept = Object.entries(others).filter(([label]) => !without.has(label));
  const pairs = kept.map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length > 0 || name === "" ? `${name}{${pairs.join(",")}}` : name;
}

/**
 * As a panel of Grafana has it, whose steps differ: the ranges of rates follow them. An increase is over its range, and stays. What stands in quotation
 * marks stays, too.
 */
export const for_grafana = (expression: string) =>
  expression.replace(
    /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|(\bi?rate\s*\(\s*[\w:]*\s*(?:\{(?:[^{}"'`]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)*\})?\s*)\[[0-9a-z]+\]/g,
    (all, text?: string, head?: string) => (text !== undefined ? all : `${head}[$__rate_interval]`),
  );

/** As `--since` takes it. */
const instant = (at_ms: number) => new Date(at_ms).toISOString();

/** As a word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const known = (values: (number | null)[]) => values.filter((value) => value !== null);
const mean = (values: (number | null)[]) => known(values).reduce((sum, value) => sum + value, 0) / Math.max(1, known(values).length);
const least = (values: (number | null)[]) => known(values).reduce<number | null>((one, other) => (one === null ? other : Math.min(one, other)), null);
const most = (values: (number | null)[]) => known(values).reduce<number | null>((one, other) => (one === null ? other : Math.max(one, other)), null);
