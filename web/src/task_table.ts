// Tasks at an instant. However many there are, only the rows on the screen are in the page.

import type { TaskEntry, Tasks } from "./replies";
import { written, type Unit } from "./units";

type Key = Exclude<keyof TaskEntry, "is_ended">;

interface Column {
  key: Key;
  heading: string;
  unit: Unit | null;
}

const COLUMNS: Column[] = [
  { key: "on_cpu", heading: "on a CPU", unit: "percent" },
  { key: "run_queue", heading: "waits for a CPU", unit: "percent" },
  { key: "block_io", heading: "waits for a disk", unit: "percent" },
  { key: "resident_bytes", heading: "memory", unit: "bytes" },
  { key: "read_bytes", heading: "read", unit: "bytes_per_second" },
  { key: "written_bytes", heading: "written", unit: "bytes_per_second" },
  { key: "threads", heading: "threads", unit: null },
  { key: "user", heading: "user", unit: null },
  { key: "pid", heading: "pid", unit: null },
  { key: "name", heading: "name", unit: null },
];

/** Of the stacked bar, from the left. */
const PARTS = ["on_cpu", "run_queue", "block_io"] as const;
const ROW_PIXELS = 26;
/** Rows above and below what is seen, so that scrolling shows no gap. */
const BEYOND = 8;

export class TaskTable {
  private readonly head = document.createElement("tr");
  private readonly body = document.createElement("tbody");
  private readonly scroller = document.createElement("div");
  private readonly filter = document.createElement("input");
  private tasks: Tasks = { at_ms: 0, rows: [] };
  private rows: TaskEntry[] = [];
  private sort: Key = "on_cpu";

  constructor(
    place: HTMLElement,
    private readonly sorted: (key: string) => void,
  ) {
    const table = document.createElement("table");
    const head = document.createElement("thead");
    head.append(this.head);
    table.append(head, this.body);
    this.scroller.className = "scroller";
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "region");
    this.scroller.setAttribute("aria-label", "Tasks");
    this.scroller.append(table);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.filter.type = "search";
    this.filter.placeholder = "Find a name, a user, a pid";
    this.filter.setAttribute("aria-label", "Find tasks");
    this.filter.addEventListener("input", () => this.arrange());
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    place.append(this.filter, this.scroller);
  }

  show(tasks: Tasks, sort: string): void {
    this.tasks = tasks;
    this.sort = COLUMNS.find((column) => column.key === sort)?.key ?? "on_cpu";
    this.arrange();
  }

  focus_filter(): void {
    this.filter.focus();
  }

  private arrange(): void {
    const wanted = this.filter.value.toLowerCase();
    const matches = (row: TaskEntry) =>
      wanted === "" || `${row.name}\n${row.user}\n${row.pid ?? ""}\n${row.cgroup}`.toLowerCase().includes(wanted);
    this.rows = this.tasks.rows.filter(matches).sort((one, other) => compare(one[this.sort], other[this.sort]));
    this.head.replaceChildren(...COLUMNS.map((column) => this.heading(column)), cell("th", "", "bar"));
    this.draw();
  }

  private heading(column: Column): HTMLElement {
    const heading = document.createElement("th");
    const button = document.createElement("button");
    button.textContent = column.heading;
    button.addEventListener("click", () => this.sorted(column.key));
    heading.setAttribute("aria-sort", column.key === this.sort ? "descending" : "none");
    heading.append(button);
    return heading;
  }

  private draw(): void {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_PIXELS) - BEYOND);
    const count = Math.ceil(this.scroller.clientHeight / ROW_PIXELS) + 2 * BEYOND;
    const shown = this.rows.slice(first, first + count);
    const below = Math.max(0, this.rows.length - first - shown.length);
    this.body.replaceChildren(gap(first), ...shown.map(line), gap(below));
    this.body.parentElement?.setAttribute("aria-rowcount", String(this.rows.length));
  }
}

function line(row: TaskEntry): HTMLElement {
  const line = document.createElement("tr");
  if (row.is_ended) line.className = "ended";
  for (const { key, unit } of COLUMNS) {
    const value = row[key];
    const text = unit === null ? String(value ?? "–") : written(value as number | null, unit);
    line.append(cell("td", text, unit === null && key !== "pid" && key !== "threads" ? "word" : "number"));
  }
  const bar = cell("td", "", "bar");
  for (const part of PARTS) {
    const share = Math.min(1, row[part] ?? 0);
    if (share < 0.005) continue;
    const piece = document.createElement("span");
    piece.className = part;
    piece.style.width = `${share * 100}%`;
    bar.append(piece);
  }
  line.append(bar);
  return line;
}

function cell(kind: "td" | "th", text: string, name: string): HTMLElement {
  const cell = document.createElement(kind);
  cell.className = name;
  cell.textContent = text;
  return cell;
}

/** Room for rows that are not in the page. */
function gap(rows: number): HTMLElement {
  const gap = document.createElement("tr");
  gap.style.height = `${rows * ROW_PIXELS}px`;
  gap.setAttribute("aria-hidden", "true");
  return gap;
}

/** The largest number first, names in their order, and what is not known last. */
function compare(one: TaskEntry[Key], other: TaskEntry[Key]): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
  if (typeof one === "string" && typeof other === "string") return one.localeCompare(other);
  return Number(other) - Number(one);
}
