// Tasks at an instant. However many there are, only the rows on the screen are in the page.

import { made } from "./element";
import { grouped, type Row } from "./grouping";
import { unpressed } from "./press";
import { sparkline } from "./sparkline";
import type { ActiveTasks, TaskEntry, Tasks } from "./replies";
import { written, type Measure } from "./units";
import type { Grouping } from "./view";

type Key = Exclude<keyof TaskEntry, "is_ended" | "started_ms">;

interface Column {
  key: Key;
  heading: string;
  measure: Measure | null;
  is_word?: boolean;
}

const COLUMNS: Column[] = [
  { key: "name", heading: "name", measure: null, is_word: true },
  { key: "on_cpu", heading: "on a CPU", measure: "ratio" },
  { key: "resident_bytes", heading: "memory", measure: "bytes" },
  { key: "waits_for", heading: "waits for", measure: null, is_word: true },
  { key: "run_queue", heading: "waits for a CPU", measure: "ratio" },
  { key: "block_io", heading: "waits for a disk", measure: "ratio" },
  { key: "read_bytes", heading: "read", measure: "bytes_per_second" },
  { key: "written_bytes", heading: "written", measure: "bytes_per_second" },
  { key: "threads", heading: "threads", measure: null },
  { key: "pid", heading: "pid", measure: null },
  { key: "user", heading: "user", measure: null, is_word: true },
  { key: "cgroup_name", heading: "cgroup", measure: null, is_word: true },
];

/** Of the stacked bar, from the left. */
const PARTS = ["on_cpu", "run_queue", "block_io"] as const;
/** Why a figure is not known, and how to get it. */
const UNKNOWN: Partial<Record<Key, string>> = {
  run_queue: "The kernel counts it if it was built with CONFIG_SCHED_INFO.",
  block_io: "The kernel counts it for tasks that began after sysctl kernel.task_delayacct=1; the agent needs CAP_NET_ADMIN.",
  read_bytes: "For others' tasks the agent needs CAP_BPF or CAP_SYS_PTRACE.",
  written_bytes: "For others' tasks the agent needs CAP_BPF or CAP_SYS_PTRACE.",
  pid: "Several tasks.",
  waits_for: "It does not sleep, or the agent does not know why: it needs CAP_BPF and Linux 5.15.",
};
/** What is 0 as long as a task does nothing. */
const RATES = ["on_cpu", "run_queue", "block_io", "read_bytes", "written_bytes"] as const;
/** Of a row; on a narrow screen it has two lines: page.css. */
const [ROW_PIXELS, NARROW_ROW_PIXELS] = [26, 48];
const NARROW = matchMedia("(max-width: 40rem)");
const row_pixels = () => (NARROW.matches ? NARROW_ROW_PIXELS : ROW_PIXELS);
/** Readings of a sparkline. */
const RECENT = 60;
/** Starts of one task lie no further apart, as the agent has it. */
const SAME_START_MS = 5000;
/** What fills the height of a sparkline at least: what is less is next to nothing. */
const MIN_LARGEST = 0.05;
/** Where they stand among the cells: behind the name, and behind what the row waits for. */
const [BAR_PLACE, RECENT_PLACE] = [1, 5];
/** Rows above and below what is seen, so that scrolling shows no gap. */
const BEYOND = 4;
/** Who has not scrolled for so long has come to rest. */
const SETTLED_MS = 300;
/** Rows of a printed page. */
const PRINTED = 40;

export interface TableEvents {
  sorted(key: string): void;
  /** The address of the page of some tasks, or of the process that started then. */
  address(of: string, started_ms: number | null): string;
}

export class TaskTable {
  private readonly head = made("tr", {});
  private readonly body = made("tbody", {});
  private readonly table = made("table", {});
  private readonly scroller = document.createElement("div");
  private readonly filter = document.createElement("input");
  private readonly count = document.createElement("output");
  private readonly living = new Map<number, TaskEntry>();
  /** The time on a CPU in the last readings, of those that had some. A number is used again: by another one that started later. */
  private readonly recent = new Map<number, { started_ms: number | null; values: number[] }>();
  private ended: TaskEntry[] = [];
  private rows: Row[] = [];
  private by: Grouping = "process";
  private sort: Key = "on_cpu";
  /** The timer of the end of scrolling; 0: the table rests. */
  private settled = 0;
  private is_printed = false;

  constructor(
    place: HTMLElement,
    private readonly events: TableEvents,
  ) {
    this.table.append(made("thead", {}, this.head), this.body);
    this.scroller.className = "scroller";
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "region");
    this.scroller.setAttribute("aria-label", "Tasks, most first");
    this.scroller.append(this.table);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.filter.type = "search";
    this.filter.placeholder = "Find a name, a user, a pid";
    this.filter.setAttribute("aria-label", "Find tasks");
    this.filter.addEventListener("input", () => this.arrange());
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    NARROW.addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    place.append(this.filter, this.count, this.scroller);
  }

  /** Shows all tasks of an instant. `is_present`: it is the newest, and others follow. */
  show({ rows }: Tasks, is_present: boolean): void {
    if (!is_present) this.forget();
    this.living.clear();
    this.ended = [];
    for (const row of rows) this.put(row);
    this.arrange();
  }

  /** What the rows did lately is not known any more: readings are missing, or the rows are other ones. */
  forget(): void {
    this.recent.clear();
  }

  /** Goes on with those that did something. */
  push({ rows, gone }: ActiveTasks): void {
    for (const pid of gone) this.living.delete(pid);
    this.ended = [];
    for (const row of this.living.values()) {
      for (const rate of RATES) if (row[rate] !== null) row[rate] = 0;
    }
    for (const row of rows) this.put(row);
    this.remember();
    if (this.settled === 0) this.arrange();
  }

  /** Adds what the tasks did now to what they did lately. */
  private remember(): void {
    for (const pid of this.recent.keys()) if (!this.living.has(pid)) this.recent.delete(pid);
    for (const [pid, { on_cpu, started_ms }] of this.living) {
      const last = this.recent.get(pid);
      // Its start is reckoned anew at each tick.
      const is_same = last && Math.abs((last.started_ms ?? 0) - (started_ms ?? 0)) <= SAME_START_MS;
      const known = is_same ? last.values : [];
      const values = [...known, on_cpu ?? 0].slice(-RECENT);
      if (values.some((value) => value > 0)) this.recent.set(pid, { started_ms, values });
      else this.recent.delete(pid);
    }
  }

  /** Groups and orders the rows. Returns whether other rows are wanted: those of threads, or of processes. */
  arranged(by: Grouping, sort: string): boolean {
    const is_other = (by === "thread") !== (this.by === "thread");
    if (is_other) this.forget();
    this.by = by;
    this.sort = COLUMNS.find((column) => column.key === sort)?.key ?? "on_cpu";
    this.arrange();
    return is_other;
  }

  /** Rows keep their order for now. */
  get is_scrolled(): boolean {
    return this.settled !== 0;
  }

  focus_filter(): void {
    this.filter.focus();
  }

  /** The table itself, so that keys move it. */
  focus(): void {
    this.scroller.focus({ preventScroll: true });
  }

  /** Rows keep their order while they are scrolled: nothing moves under the eye, and no frame is late. */
  private scrolled(): void {
    clearTimeout(this.settled);
    const settled = setTimeout(async () => {
      await unpressed();
      // It may be scrolled again by then.
      if (this.settled !== settled) return;
      this.settled = 0;
      this.arrange();
    }, SETTLED_MS);
    this.settled = settled;
    this.draw();
  }

  private put(row: TaskEntry): void {
    if (row.is_ended || row.pid === null) this.ended.push(row);
    else this.living.set(row.pid, row);
  }

  private arrange(): void {
    const wanted = this.filter.value.toLowerCase();
    const matches = (row: TaskEntry) =>
      wanted === "" || `${row.name}\n${row.user}\n${row.pid ?? ""}\n${row.cgroup}\n${row.cgroup_name}`.toLowerCase().includes(wanted);
    const tasks = [...this.living.values(), ...this.ended].filter(matches);
    this.rows = grouped(tasks, this.by).sort((one, other) => compare(one[this.sort], other[this.sort]));
    this.count.textContent = this.rows.length === 1 ? "1 row" : `${this.rows.length} rows`;
    const has_focus = this.head.contains(document.activeElement);
    if (!has_focus) {
      const drawn = (className: string, text: string) => made("th", { scope: "col", className }, text);
      const headings = COLUMNS.map((column) => this.heading(column));
      this.head.replaceChildren(...with_pictures(headings, drawn("bar", "its time"), drawn("recent", "lately")));
    }
    this.draw();
  }

  private heading(column: Column): HTMLElement {
    const button = made("button", {}, column.heading);
    const heading = made("th", { scope: "col", className: `${column.is_word ? "word" : "number"} ${column.key}` }, button);
    button.addEventListener("click", () => {
      this.events.sorted(column.key);
      this.head.querySelectorAll("th").forEach((other) => other.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", column.is_word ? "ascending" : "descending");
    });
    const order = column.is_word ? "ascending" : "descending";
    heading.setAttribute("aria-sort", column.key === this.sort ? order : "none");
    return heading;
  }

  private print(is_printed: boolean): void {
    this.is_printed = is_printed;
    this.draw();
  }

  private draw(): void {
    const first = this.is_printed ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / row_pixels()) - BEYOND);
    const seen = Math.ceil(this.scroller.clientHeight / row_pixels()) + 2 * BEYOND;
    const shown = this.rows.slice(first, first + (this.is_printed ? PRINTED : seen));
    const below = this.is_printed ? 0 : Math.max(0, this.rows.length - first - shown.length);
    // A link that has the focus stays: its row is only replaced by another.
    const focused = this.body.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    const lines = shown.map((row, place) => this.line(row, first + place));
    this.body.replaceChildren(gap(first), ...lines, gap(below));
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    if (focused) this.body.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  private line(row: Row, place: number): HTMLElement {
    const line = made("tr", { ariaRowIndex: String(place + 2), className: row.is_ended ? "ended" : "" });
    const cells = COLUMNS.map(({ key, measure, is_word }) => {
      const value = row[key];
      const text = measure === null ? String(value ?? "–") : figure(value as number | null, measure);
      const one = cell(text, `${is_word ? "word" : "number"} ${key}`);
      if (key === "name" && row.of !== null) {
        const link = document.createElement("a");
        link.href = this.events.address(row.of, row.started_ms);
        link.textContent = text;
        one.replaceChildren(link);
      }
      if (is_word && value !== null) one.title = key === "cgroup_name" ? row.cgroup : text;
      else if (value === null) one.title = UNKNOWN[key] ?? "";
      return one;
    });
    line.append(...with_pictures(cells, bar(row), this.recently(row)));
    return line;
  }

  /** What one task did lately: rows of several have no one line. */
  private recently(row: Row): HTMLElement {
    const values = row.pid === null ? undefined : this.recent.get(row.pid)?.values;
    const drawn = cell("", "recent");
    if (!values || values.length < 2) return drawn;
    const largest = Math.max(MIN_LARGEST, ...values);
    const [most, count] = [figure(Math.max(...values), "ratio"), values.length];
    drawn.append(sparkline([...new Array<null>(RECENT - count).fill(null), ...values], largest, `on a CPU in the last ${count} readings, at most ${most}`));
    drawn.title = `On a CPU in the last ${count} readings, at most ${most}`;
    return drawn;
  }
}

/** Shares to a tenth of a percent, so that the eye finds those that matter. */
function figure(value: number | null, measure: Measure): string {
  return measure === "ratio" && value !== null ? `${(value * 100).toFixed(1)} %` : written(value, measure);
}

/** What is drawn, among the figures. */
const with_pictures = (cells: HTMLElement[], bar: HTMLElement, recent: HTMLElement) =>
  cells.toSpliced(BAR_PLACE, 0, bar).toSpliced(RECENT_PLACE, 0, recent);

/** What the row did, as parts of its time; of more than one thread as parts of what they did together. */
function bar(row: Row): HTMLElement {
  const bar = cell("", "bar");
  const whole = Math.max(1, ...[PARTS.reduce((sum, part) => sum + (row[part] ?? 0), 0)]);
  for (const part of PARTS) {
    const share = (row[part] ?? 0) / whole;
    if (share < 0.005) continue;
    const piece = document.createElement("span");
    piece.className = part;
    piece.style.width = `${share * 100}%`;
    bar.append(piece);
  }
  return bar;
}

const cell = (text: string, className: string) => made("td", { className }, text);

/** Room for rows that are not in the page. */
function gap(rows: number): HTMLElement {
  const gap = document.createElement("tr");
  gap.style.height = `${rows * row_pixels()}px`;
  gap.setAttribute("aria-hidden", "true");
  return gap;
}

/** The largest number first, names in their order, and what is not known last. */
function compare(one: TaskEntry[Key], other: TaskEntry[Key]): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
  if (typeof one === "string" && typeof other === "string") return one < other ? -1 : one > other ? 1 : 0;
  return Number(other) - Number(one);
}
