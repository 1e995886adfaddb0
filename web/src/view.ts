// What is shown: it is in the address, so that it can be sent to somebody.

export const SPANS: [string, number][] = [
  ["1 m", 60_000],
  ["10 m", 600_000],
  ["1 h", 3_600_000],
  ["6 h", 21_600_000],
  ["1 d", 86_400_000],
  ["1 w", 604_800_000],
];

export const GROUPINGS = ["process", "thread", "user", "cgroup"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface View {
  /** The length of the window. */
  span_ms: number;
  /** Where the window ends; null: it goes with the time. */
  end_ms: number | null;
  /** The instant whose tasks are shown; null: the end of the window. */
  at_ms: number | null;
  by: Grouping;
  /** The column that tasks are ordered by, the largest first. */
  sort: string;
}

/** From an address. What it does not say, or says wrong, is as usual. */
export function read(hash: string): View {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string) => {
    const value = Number(said.get(name) ?? NaN);
    return Number.isFinite(value) && value > 0 ? value : null;
  };
  return {
    span_ms: number("span") ?? 600_000,
    end_ms: number("end"),
    at_ms: number("at"),
    by: GROUPINGS.find((by) => by === said.get("by")) ?? "process",
    sort: said.get("sort") ?? "on_cpu",
  };
}

/** As an address. */
export function write(view: View): string {
  const said = new URLSearchParams({ span: String(Math.round(view.span_ms)), by: view.by, sort: view.sort });
  if (view.end_ms !== null) said.set("end", String(Math.round(view.end_ms)));
  if (view.at_ms !== null) said.set("at", String(Math.round(view.at_ms)));
  return `#${said}`;
}
