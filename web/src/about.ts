// Which tasks a page is about: of one process also when it ran, and its relatives.

import * as agent from "./agent";
import type { Window } from "./agent";
import { element, keep_focus, link, made } from "./element";
import type { ProcessDetail, RelativeEntry } from "./replies";
import { duration, time, type Zone } from "./units";
import { selected, selector } from "./view";

/** Threads and relatives that are named before a number stands for the rest. */
const NAMED = 10;
/** The window of a process is so much longer than its life at each end. */
const MIN_BEYOND_MS = 2000;

/** The address of some tasks, or of the process that started then. */
type Address = (of: string, started_ms?: number) => string;

/** The name of the page's tasks. */
export function name_target(name: string): void {
  element("of").textContent = name;
  document.title = `${name} · whit`;
}

/** A process, and how it was in a window; null: none of this number was recorded in it. */
export async function process(of: string, started_ms: number | null, window: Window, signal: AbortSignal): Promise<ProcessDetail | null> {
  const target = selected(of);
  return target?.label === "pid" ? agent.process(target.value, started_ms, window, signal) : null;
}

/** The part of a window in which it ran; if there is none, its life, the last of it if that is longer. What it did last is in the tick behind its
 * end. */
export function life_in(window: Window, { started_ms, ended_ms }: ProcessDetail, tick_ms: number): Window {
  const beyond_ms = Math.max(MIN_BEYOND_MS, 2 * tick_ms);
  const [first_ms, last_ms] = [started_ms - beyond_ms, (ended_ms ?? window.to_ms) + beyond_ms];
  const [from_ms, to_ms] = [Math.max(window.from_ms, first_ms), Math.min(window.to_ms, last_ms)];
  if (from_ms < to_ms) return { from_ms, to_ms };
  return { from_ms: Math.max(first_ms, last_ms - (window.to_ms - window.from_ms)), to_ms: last_ms };
}

/** Shows that there was no process of this number and start. */
export function show_none(pid: string): void {
  name_target(`pid ${pid}`);
  element("about").replaceChildren(made("p", {}, "This process was not recorded in this time."));
}

/** Shows when it ran, and its relatives. */
export function show_process(pid: string, detail: ProcessDetail, zone: Zone, address: Address): void {
  name_target(`${detail.name} · pid ${pid}`);
  const { user, cgroup, cgroup_name, command_line, ancestors, children, children_count, threads, threads_count, waits } = detail;
  const relatives = (entries: RelativeEntry[]) =>
    entries.map(({ pid, name, started_ms }) => made("li", {}, link(address(selector("pid", pid), started_ms), `${name} ${pid}`)));
  const list = (title: string, items: HTMLElement[], count: number) => {
    const more = count > items.length ? [made("li", {}, `and ${count - items.length} more`)] : [];
    return items.length === 0 ? [] : [made("dt", {}, title), made("dd", {}, made("ul", {}, ...items, ...more))];
  };
  const of_threads = threads.map(({ tid, name, waits_for }) =>
    made("li", {}, link(address(selector("tid", tid)), `${name} ${tid}`), waits_for === null ? "" : `: ${waits_for}`));
  const asleep = waits.map(({ reason, threads }) => `${threads} ${threads === 1 ? "waits" : "wait"} for ${reason}`).join(", ");
  const parts = [
    made("p", {}, [life(detail, zone), user].filter((text) => text !== "").join(" · "), ...(cgroup ? [" · ", link(address(selector("cgroup", cgroup)), cgroup_name)] : [])),
    ...(command_line ? [made("p", {}, made("code", {}, command_line))] : []),
    made(
      "dl",
      {},
      ...list("Started by", relatives(ancestors), ancestors.length),
      ...list(children_count === 1 ? "1 child" : `${children_count} children`, relatives(children.slice(0, NAMED)), children_count),
      ...(threads_count > 1 ? list(`${threads_count} threads${asleep ? `: ${asleep}` : ""}`, of_threads.slice(0, NAMED), threads_count) : []),
    ),
  ];
  const place = element("about");
  keep_focus(place, () => place.replaceChildren(...parts));
}

/** When it ran, in words. */
function life({ started_ms, ended_ms, status, signal }: ProcessDetail, zone: Zone): string {
  if (ended_ms === null) return `runs since ${time(started_ms, zone)}`;
  const how = signal !== null ? `, ended by signal ${signal}` : status !== null ? `, ended with status ${status}` : "";
  return `not running since ${time(ended_ms, zone)}: it ran for ${duration(ended_ms - started_ms)}${how}`;
}

/** Shows the programs, users and cgroups of tasks in a window. */
export async function show_tasks_of(of: string, { from_ms, to_ms }: Window, signal: AbortSignal): Promise<void> {
  const range = `[${Math.max(10_000, to_ms - from_ms)}ms]`;
  const expression = `group by (comm, user, cgroup, unit, container) (last_over_time(whit_task_on_cpu_seconds_total${of}${range}))`;
  const { answers } = await agent.plots([expression], { from_ms: to_ms, to_ms, step_ms: 1000 }, signal);
  const curves = answers[0]?.curves ?? [];
  // Of a cgroup the container or the unit, if its path has one.
  const values = (...names: string[]) =>
    [...new Set(curves.map(({ labels }) => names.map((name) => labels[name]).find(Boolean) ?? ""))].filter((value) => value !== "");
  const about = [values("comm"), values("user"), values("container", "unit", "cgroup")].map(some);
  element("about").textContent = about.filter((text) => text !== "").join(" · ");
}

/** The first of them. */
const some = (texts: string[]) => texts.slice(0, 3).join(", ") + (texts.length > 3 ? ` and ${texts.length - 3} more` : "");
