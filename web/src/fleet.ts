// The machines of a fleet, as a store elsewhere has them: those in trouble first.

import * as agent from "./agent";
import type { Machine, Use } from "./agent";
import { element, keep_focus, link, made } from "./element";
import { sparkline } from "./sparkline";
import { duration, time, written, type Zone } from "./units";

type Column = "machine" | "seen" | "CPU" | "last hour" | "memory left" | "waits for" | "what is the matter";
const COLUMNS: Column[] = ["machine", "seen", "CPU", "last hour", "memory left", "waits for", "what is the matter"];
/** The last hour has a new step less often than the machines have news. */
const PAST_INTERVAL_MS = 60_000;
/** Waits below this are written as zero. */
const MIN_WAIT = 0.005;
/** The colours are those of checks. */
const AS_CHECKS: Record<string, string> = { critical: "critical", warning: "warning", notice: "unknown" };

export interface FleetEvents {
  /** The address of a machine's plots. */
  address: (machine: string) => string;
  /** Another text is looked for. */
  found: (find: string) => void;
}

export class Fleet {
  private machines: Machine[] = [];
  private at_ms = 0;
  private faults: string[] = [];
  /** How busy machines were in the last hour, by their names, and when the store was asked for it. */
  private past = new Map<string, { mean: number; line: SVGElement }>();
  private past_asked_ms = 0;
  /** Null: those in trouble first. */
  private column: Column | null = null;
  private find = "";
  /** The machine that is shown; null: all. */
  private shown: string | null = null;

  constructor(private readonly events: FleetEvents) {
    const field = element<HTMLInputElement>("fleet-find");
    field.oninput = () => {
      this.find = field.value;
      this.draw();
      this.events.found(field.value);
    };
  }

  /** Asks for all machines. Those that are known stay until the store has answered. */
  async show_list(find: string, signal: AbortSignal): Promise<void> {
    this.shown = null;
    const field = element<HTMLInputElement>("fleet-find");
    if (document.activeElement !== field) field.value = this.find = find;
    this.draw();
    const { at_ms, machines, faults } = await agent.fleet(signal);
    [this.at_ms, this.machines, this.faults] = [at_ms, machines, faults];
    this.draw();
    // The list is complete without it.
    if (Date.now() - this.past_asked_ms >= PAST_INTERVAL_MS) void this.ask_past(signal);
  }

  /** The lines of the last hour. A store that does not answer leaves those that are known. */
  private async ask_past(signal: AbortSignal): Promise<void> {
    this.past_asked_ms = Date.now();
    const past = await agent.fleet_past(signal).catch(() => null);
    if (past === null) {
      // Another view was opened: the next one asks.
      if (signal.aborted) this.past_asked_ms = 0;
      return;
    }
    this.past = new Map(Object.entries(past.busy_percent).map(([name, percents]) => [name, of_hour(percents)]));
    if (this.shown === null) this.draw();
  }

  /** Says what is known of one machine, and what its programs did at an instant, null: now; its plots stand below. */
  async show_one(name: string, end_ms: number | null, zone: Zone, signal: AbortSignal): Promise<void> {
    // Nothing of another machine is left while this one is asked for.
    if (this.shown !== name) element("fleet").replaceChildren();
    this.shown = name;
    const { machines, at_ms } = await agent.fleet(signal);
    // The clock of the store's agent, not of this browser.
    const instant_ms = end_ms ?? at_ms;
    const uses = await agent.fleet_uses(name, instant_ms, signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return null;
    });
    const machine = machines.find((machine) => machine.name === name);
    element("fleet-state").textContent = "";
    const when = `in the minute before ${time(instant_ms, zone)}`;
    const tables = uses === null ? [made("p", {}, "The store did not say what its programs and units did.")] : [...uses_of("program", when, uses.programs), ...uses_of("unit", when, uses.units)];
    const place = element("fleet");
    keep_focus(place, () => place.replaceChildren(...(machine ? [...about(machine, zone), ...tables] : [made("p", {}, `The store has no machine "${name}".`)])));
  }

  private draw(): void {
    const find = this.find.toLowerCase();
    const machines = this.ordered().filter((machine) => words(machine).includes(find));
    const bad = (severity: string) => this.machines.filter(({ troubles }) => troubles[0]?.severity === severity).length;
    const counts = `${this.machines.length} ${this.machines.length === 1 ? "machine" : "machines"}, ${bad("critical")} critical, ${bad("warning")} in warning.`;
    const found = find === "" ? [] : [`${machines.length} found.`];
    const state = this.at_ms === 0 ? "The store is being asked." : [counts, ...found, ...this.faults].join(" ");
    const head = made("tr", {}, ...COLUMNS.map((column) => this.heading(column)));
    const rows = machines.map((machine) => this.line(machine));
    const table = made("table", { className: "fleet" }, made("thead", {}, head), made("tbody", {}, ...rows));
    const scroller = made("div", { className: "scroller whole", tabIndex: 0, role: "region", ariaLabel: "Machines" }, table);
    element("fleet-state").textContent = state;
    const place = element("fleet");
    keep_focus(place, () => place.replaceChildren(...(this.machines.length > 0 ? [scroller] : [])));
  }

  private ordered(): Machine[] {
    const { column } = this;
    if (column === null || column === "what is the matter") return this.machines;
    const by: Record<Exclude<Column, "what is the matter">, (machine: Machine) => number | string> = {
      machine: ({ name }) => name,
      seen: ({ seen_ns, silent_since_ns }) => -(silent_since_ns ?? seen_ns ?? 0),
      CPU: (machine) => -(busy_ratio(machine) ?? -1),
      "last hour": ({ name }) => -(this.past.get(name)?.mean ?? -1),
      "memory left": ({ memory_available_bytes }) => memory_available_bytes ?? Infinity,
      "waits for": ({ waits }) => -(waits[0]?.waited_ratio ?? 0),
    };
    const key = by[column];
    const compare = (one: number | string, other: number | string) =>
      typeof one === "string" ? one.localeCompare(String(other), undefined, { numeric: true }) : one - Number(other);
    return this.machines.toSorted((one, other) => compare(key(one), key(other)));
  }

  private heading(column: Column): HTMLElement {
    const is_number = column === "seen" || column === "memory left";
    const order = () => {
      this.column = this.column === column ? null : column;
      this.draw();
    };
    const button = made("button", { type: "button", onclick: order }, column);
    const ariaSort = this.column === column ? "ascending" : "none";
    return made("th", { scope: "col", className: is_number ? "number" : "", ariaSort }, button);
  }

  private line(machine: Machine): HTMLElement {
    const [wait] = machine.waits.filter(({ waited_ratio }) => waited_ratio >= MIN_WAIT);
    const [worst] = machine.troubles;
    const hour = this.past.get(machine.name);
    const says = machine.troubles.map(({ text }) => text).join("; ");
    const state = worst ? [made("span", { className: `state state-${AS_CHECKS[worst.severity] ?? "unknown"}` }, worst.severity), " "] : [];
    return made(
      "tr",
      {},
      made("td", { className: "name" }, link(this.events.address(machine.name), machine.name)),
      made("td", { className: "number" }, seen(machine, this.at_ms)),
      made("td", {}, ...busy(machine)),
      made("td", {}, ...(hour ? [hour.line] : [])),
      made("td", { className: "number" }, written(machine.memory_available_bytes, "bytes")),
      made("td", {}, wait ? wait_in_words(wait) : ""),
      made("td", { title: says, className: "says" }, ...state, says),
    );
  }
}

const wait_in_words = ({ cause, waited_ratio }: Machine["waits"][number]) =>
  `${cause} ${waited_ratio.toFixed(2)} s/s`;

const words = (machine: Machine) => [machine.name, machine.version, ...machine.troubles.map(({ text }) => text)].join(" ").toLowerCase();

function busy_ratio({ busy_cpus, cpus_count }: Machine): number | null {
  return busy_cpus === null || !cpus_count ? null : busy_cpus / cpus_count;
}

/** The line of an hour, and the mean that it is ordered by. */
function of_hour(percents: (number | null)[]): { mean: number; line: SVGElement } {
  const known = percents.filter((percent) => percent !== null);
  const mean = known.length === 0 ? -1 : known.reduce((sum, percent) => sum + percent, 0) / known.length;
  const most = Math.max(...known);
  const label = known.length === 0 ? "nothing in the last hour" : `CPU in the last hour: ${mean.toFixed(0)} % on average, at most ${most} %`;
  return { mean, line: sparkline(percents, 100, label) };
}

/** A bar of the part of its CPUs, and the numbers. */
function busy(machine: Machine): (Node | string)[] {
  const ratio = busy_ratio(machine);
  if (ratio === null) return ["–"];
  const meter = made("meter", { value: Math.min(1, ratio), ariaLabel: "CPU" });
  return [meter, ` ${machine.busy_cpus!.toFixed(2)} of ${machine.cpus_count}`];
}

/** When it was seen last, in milliseconds since 1970. */
function last_seen_ms({ seen_ns, silent_since_ns }: Machine): number | null {
  const last_ns = seen_ns ?? silent_since_ns;
  return last_ns === null ? null : last_ns / 1e6;
}

function seen(machine: Machine, at_ms: number): string {
  const last_ms = last_seen_ms(machine);
  return last_ms === null ? "–" : duration(at_ms - last_ms);
}

/** `whit fleet MACHINE` has more. */
const MAX_USES = 8;

/** What programs or units did at a time; nothing if the store has none. */
function uses_of(noun: string, when: string, uses: Use[]): HTMLElement[] {
  if (uses.length === 0) return [];
  const number = (text: string) => made("td", { className: "number" }, text);
  const seconds = (ratio: number | null) => number(ratio === null ? "–" : `${ratio.toFixed(2)} s/s`);
  const line = (use: Use) =>
    made(
      "tr",
      {},
      made("td", { className: "name" }, use.name || "none"),
      ...[use.on_cpu_ratio, use.run_queue_ratio, use.block_io_ratio, use.memory_ratio].map(seconds),
      number(written(use.resident_bytes, "bytes")),
    );
  const headings = ["on CPU", "run queue", "block I/O", "memory wait", "resident"].map((text) => made("th", { scope: "col", className: "number" }, text));
  const head = made("tr", {}, made("th", { scope: "col" }, noun), ...headings);
  const caption = made("caption", {}, `What each ${noun} did ${when}`);
  const table = made("table", { className: "uses" }, caption, made("thead", {}, head), made("tbody", {}, ...uses.slice(0, MAX_USES).map(line)));
  return [made("div", { className: "scroller whole", tabIndex: 0, role: "region", ariaLabel: `What each ${noun} did` }, table)];
}

/** Everything that is not in a plot. */
function about(machine: Machine, zone: Zone): HTMLElement[] {
  const last_ms = last_seen_ms(machine);
  const ahead_s = (machine.clock_ahead_ns ?? 0) / 1e9;
  const facts: [string, string][] = [
    ["seen", last_ms === null ? "–" : time(last_ms, zone)],
    ["agent", machine.version ?? ""],
    ["fullest", machine.fullest ? `${machine.fullest.mountpoint}, ${written(machine.fullest.available_ratio, "ratio")} left` : ""],
    ["memory left", `${written(machine.memory_available_bytes, "bytes")} of ${written(machine.memory_bytes, "bytes")}`],
    ["waits for", machine.waits.filter(({ waited_ratio }) => waited_ratio >= MIN_WAIT).map(wait_in_words).join(", ")],
    ["largest", machine.largest ? `${machine.largest.comm}, ${machine.largest.used_cpus.toFixed(2)} CPUs` : ""],
    ["clock", Math.abs(ahead_s) < 1 ? "" : `${Math.abs(ahead_s).toFixed(1)} s ${ahead_s < 0 ? "behind" : "ahead"}`],
  ];
  const list = made("dl", { className: "about" }, ...facts.filter(([, text]) => text !== "").flatMap(([name, text]) => [made("dt", {}, name), made("dd", {}, text)]));
  const troubles = machine.troubles.map(({ severity, text }) =>
    made("li", {}, made("span", { className: `state state-${AS_CHECKS[severity] ?? "unknown"}` }, severity), ` ${text}`),
  );
  return [...(troubles.length > 0 ? [made("ul", { className: "troubles" }, ...troubles)] : []), list];
}
