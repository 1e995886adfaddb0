// What is shown: it is in the address, so that it can be sent to somebody.

import { PARTS, type Parts } from "./parts";
import type { Zone } from "./units";

export const SPANS: [string, number][] = [
  ["1 m", 60_000],
  ["10 m", 600_000],
  ["1 h", 3_600_000],
  ["6 h", 21_600_000],
  ["1 d", 86_400_000],
  ["1 w", 604_800_000],
];

/** The page shows the machine, some of its tasks, checks, alerts, an expression, or other machines. */
export const PLACES = ["machine", "tasks", "checks", "alerts", "explore", "fleet"] as const;
export type Place = (typeof PLACES)[number];

export const GROUPINGS = ["process", "thread", "program", "user", "cgroup"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface View {
  place: Place;
  /** Of "machine": its parts of one kind; null: all in all. */
  parts: Parts | null;
  /** Of "tasks": which, as a selector of labels. */
  of: string;
  /** Of one process: when it started, because its number is used again. */
  started_ms: number | null;
  /** Of "checks": one by its name, else a list. */
  check: string;
  /** Of a list of checks or machines: those in which a text is. */
  find: string;
  /** A state, "problems" or "all". */
  state: string;
  /** Of "fleet": a machine by its name; empty: all. */
  machine: string;
  /** Of "explore". */
  expression: string;
  /** The length of the window; null: all of history. */
  span_ms: number | null;
  /** Where the window ends; null: it goes with the time. */
  end_ms: number | null;
  /** The instant whose tasks are shown; null: the end of the window. */
  at_ms: number | null;
  by: Grouping;
  /** The column that tasks are ordered by. */
  sort: string;
  zone: Zone;
}

const USUAL: View = {
  place: "machine",
  parts: null,
  of: "",
  started_ms: null,
  check: "",
  find: "",
  state: "problems",
  machine: "",
  expression: "",
  span_ms: 600_000,
  end_ms: null,
  at_ms: null,
  by: "process",
  sort: "on_cpu",
  zone: "local",
};

/** From an address. What it does not say, or says wrong, is as usual. */
export function read(hash: string): View {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string) => {
    const value = Number(said.get(name) ?? NaN);
    return Number.isFinite(value) && value > 0 ? value : null;
  };
  const place = PLACES.find((place) => place === said.get("place")) ?? "machine";
  const of = said.get("of") ?? "";
  return {
    place: place === "tasks" && !of.startsWith("{") ? "machine" : place,
    parts: PARTS.find((parts) => parts === said.get("parts")) ?? null,
    of,
    started_ms: number("started"),
    check: said.get("check") ?? "",
    find: said.get("find") ?? "",
    state: said.get("state") ?? USUAL.state,
    machine: said.get("machine") ?? "",
    expression: said.get("expression") ?? "",
    span_ms: said.get("span") === "all" ? null : (number("span") ?? USUAL.span_ms),
    end_ms: number("end"),
    at_ms: number("at"),
    by: GROUPINGS.find((by) => by === said.get("by")) ?? "process",
    sort: said.get("sort") ?? USUAL.sort,
    zone: said.get("zone") === "utc" ? "utc" : "local",
  };
}

/** As an address, without what is as usual. */
export function write(view: View): string {
  const said = new URLSearchParams();
  const say = (name: string, value: string | number | null, usual: string | number | null) => {
    if (value !== usual && value !== null) said.set(name, String(typeof value === "number" ? Math.round(value) : value));
  };
  say("place", view.place, USUAL.place);
  if (view.place === "machine") say("parts", view.parts, null);
  if (view.place === "tasks") {
    say("of", view.of, "");
    say("started", view.started_ms, null);
  }
  if (view.place === "checks") {
    say("check", view.check, "");
    say("find", view.find, "");
    say("state", view.state, USUAL.state);
  }
  if (view.place === "fleet") {
    say("machine", view.machine, "");
    say("find", view.find, "");
  }
  if (view.place === "explore") say("expression", view.expression, "");
  say("span", view.span_ms ?? "all", USUAL.span_ms);
  say("end", view.end_ms, null);
  say("at", view.at_ms, null);
  say("by", view.by, USUAL.by);
  say("sort", view.sort, USUAL.sort);
  say("zone", view.zone, USUAL.zone);
  return `#${said}`;
}

/** A selector of one label. */
export const selector = (label: string, value: string | number) => `{${label}=${JSON.stringify(String(value))}}`;

/** A change of the view to some tasks; `started_ms`: of one process. */
export const of_tasks = (of: string, started_ms: number | null = null): Partial<View> => ({ place: "tasks", of, started_ms });

/** The label and value of such a selector. */
export function selected(of: string): { label: string; value: string } | null {
  const found = /^\{(\w+)=(".*")\}$/s.exec(of);
  try {
    return found ? { label: found[1]!, value: JSON.parse(found[2]!) as string } : null;
  } catch {
    return null;
  }
}
