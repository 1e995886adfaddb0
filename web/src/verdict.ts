// The first line: how the machine is, and where to look.

import type { Rule } from "./agent";
import { element, keep_focus, made } from "./element";
import { busy, MEMORY_USED } from "./panels";
import type { Checks, Curves, Sentence } from "./replies";
import { written } from "./units";

/** A pressure below this is that of a machine that waits for nothing. */
const MIN_PRESSURE = 0.05;

/** The causes of pressure, in words, and the column of the tasks' table that says who waits; none has memory. */
const WAITS: [string, string, string?][] = [
  ["cpu", "tasks wait for a CPU", "run_queue"],
  ["io", "tasks wait for disks", "block_io"],
  ["memory", "tasks wait for memory"],
];

/** What it says is asked for with these, in this order. */
export const OF_VERDICT = [
  busy("30s"),
  MEMORY_USED,
  "node_memory_MemTotal_bytes",
  ...WAITS.map(([what]) => `rate(node_pressure_${what}_waiting_seconds_total[30s])`),
];

/** A part of the line. */
interface Chip {
  text: string;
  /** It is trouble. */
  is_bad?: boolean;
  /** Where it leads; null: nowhere. */
  act?: (() => void) | null;
  /** What it is about, whatever its figure is. */
  name?: string;
}

export interface VerdictEvents {
  /** Shows the checks in a state. */
  checks(state: string): void;
  /** Shows alerts. */
  alerts(): void;
  /** Shows the tasks in the order of a column. */
  tasks(sort: string): void;
}

export class Verdict {
  /** Null: nothing is known yet of what is wrong. */
  private found: Sentence[] | null = null;
  /** Null: no answer has come yet. */
  private values: (number | null)[] | null = null;
  private checks: Checks | null = null;
  private alerts = 0;

  constructor(private readonly events: VerdictEvents) {}

  /** Takes what `why` found. */
  find(sentences: Sentence[]): void {
    // Who computes while nothing waits costs nothing.
    this.found = sentences.filter(({ weight_ratio }) => weight_ratio > 0);
    this.draw();
  }

  /** Takes the newest values of its expressions. */
  show(answers: Curves[]): void {
    this.values = answers.map(({ curves }) => curves[0]?.values.at(-1) ?? null);
    this.draw();
  }

  /** Takes how many checks are in which state. */
  count_checks(checks: Checks): void {
    this.checks = checks;
    this.draw();
  }

  /** Takes the rules, of which some may fire. */
  count_alerts(rules: Rule[]): void {
    this.alerts = rules.flatMap(({ alerts }) => alerts).filter(({ state }) => state === "firing").length;
    this.draw();
  }

  private draw(): void {
    // Lines without figures would move what is below them, twice.
    if (this.values === null) return;
    const [place, chips] = [element("verdict"), this.chips(this.values)];
    keep_focus(place, () => place.replaceChildren(...chips.map(chip)));
  }

  private chips([cpu, used, total, cpu_waits, io_waits, memory_waits]: (number | null)[]): Chip[] {
    const chips = [this.state()];
    const by = (sort: string) => () => this.events.tasks(sort);
    chips.push({ text: `CPU ${written(cpu, "ratio")}`, name: "cpu", act: by("on_cpu") });
    chips.push({ text: `memory ${written(used, "bytes")} of ${written(total, "bytes")}`, name: "memory", act: by("resident_bytes") });
    const waits = [cpu_waits, io_waits, memory_waits].map((value, place) => ({ value: value ?? null, words: WAITS[place]! }));
    const long = waits.filter(({ value }) => value !== null && value >= MIN_PRESSURE);
    chips.push(
      ...long.map(({ value, words: [, text, sort] }) => ({ text: `${text} ${written(value, "ratio")} of the time`, name: text, act: sort ? by(sort) : to_reasons })),
    );
    if (long.length === 0 && waits.some(({ value }) => value !== null)) chips.push({ text: "nothing waits" });
    const { critical, unknown, warning } = this.checks ?? { critical: 0, unknown: 0, warning: 0 };
    const of_checks = (count: number, word: string, state: string): Chip[] =>
      count ? [{ text: `${count} ${count === 1 ? "check" : "checks"} ${word}`, name: word, is_bad: true, act: () => this.events.checks(state) }] : [];
    chips.push(...of_checks(critical, "critical", "critical"), ...of_checks(unknown, "unknown", "unknown"), ...of_checks(warning, "in warning", "warning"));
    const { alerts } = this;
    if (alerts > 0) chips.push({ text: alerts === 1 ? "1 alert fires" : `${alerts} alerts fire`, name: "alerts", is_bad: true, act: () => this.events.alerts() });
    return chips;
  }

  private state(): Chip {
    if (this.found === null) return { text: "…" };
    const count = this.found.length;
    const { critical, unknown } = this.checks ?? { critical: 0, unknown: 0 };
    // Checks and alerts are often of other things than what tasks wait for.
    if (count === 0) return { text: critical + unknown + this.alerts > 0 ? "No findings" : "Healthy" };
    return { text: count === 1 ? "1 finding" : `${count} findings`, name: "findings", is_bad: true, act: to_reasons };
  }
}

const to_reasons = () => element("why-section").scrollIntoView();

function chip({ text, is_bad, act, name }: Chip): HTMLElement {
  const className = is_bad ? "bad" : "";
  if (!act) return made("span", { className }, text);
  const button = made("button", { className, type: "button", onclick: act }, text);
  if (name) button.dataset["name"] = name;
  return button;
}
