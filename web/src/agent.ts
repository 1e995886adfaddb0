// Asks the agent.

import { unpressed } from "./press";
import type { Answers, ChangeEntry, CheckDetail, Checks, Exits, Language, MarkEntry, Outcome, ProcessDetail, ReceiverEntry, SilenceEntry, Status, Tasks, Why } from "./replies";

interface Reply<T> {
  status: "success" | "error";
  data: T;
  error?: string;
}

/** A time in milliseconds since 1970. */
export interface Window {
  from_ms: number;
  to_ms: number;
}

/** A window and the steps in it. */
export interface Steps extends Window {
  step_ms: number;
}

/** Why the agent did not answer, in words for people. */
export class Refused extends Error {}

/** This user may not ask that, now or later. */
export class Denied extends Refused {}

/** The agent answers others first, or this user has used a share of its CPU. */
export class Busy extends Refused {
  constructor(readonly retry_after_s: number) {
    super(`The agent is busy: another attempt may succeed in ${retry_after_s} s.`);
  }
}

/** The CPU time that the agent has used for all answers to this page, as it says, in milliseconds. */
let used_ms = 0;
export const agent_cpu_ms = () => used_ms;

type Parameters = Record<string, string | number | string[]>;

function form(parameters: Parameters): URLSearchParams {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)]),
  );
  return new URLSearchParams(pairs);
}

/** What the agent answers, as soon as nothing is pressed. */
async function ask<T>(path: string, parameters: Parameters, options: RequestInit = {}): Promise<T> {
  const reply = answer<T>(path, parameters, options);
  await reply.catch(() => undefined);
  await unpressed();
  // Other things may be shown by then.
  options.signal?.throwIfAborted();
  return reply;
}

async function answer<T>(path: string, parameters: Parameters, options: RequestInit): Promise<T> {
  const { method = "GET", signal } = options;
  const body = form(parameters);
  let response: Response;
  try {
    response = await (method === "GET" ? fetch(`${path}?${body}`, options) : fetch(path, { ...options, body }));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The agent does not answer: does whit agent run?");
  }
  used_ms += Number(/cpu;dur=([\d.]+)/.exec(response.headers.get("server-timing") ?? "")?.[1] ?? 0);
  if (response.status === 401) location.reload();
  const retry_after_s = Number(response.headers.get("retry-after"));
  if (response.status === 503 && retry_after_s > 0) throw new Busy(retry_after_s);
  const reply = (await response.json()) as Reply<T>;
  const why = reply.error ?? response.statusText;
  if (response.status === 403) throw new Denied(why);
  if (reply.status !== "success") throw new Refused(why);
  return reply.data;
}

/** What there is, and how far ticks lie apart at the beginning of a window. */
export const status = (span_ms: number | null, end_ms: number | null, signal?: AbortSignal) =>
  ask<Status>("/api/page/status", { ...(span_ms && { span_ms: Math.round(span_ms) }), ...(end_ms && { end_ms: Math.round(end_ms) }) }, { signal });

/** The values of expressions at each step. */
export const plots = (query: string[], steps: Steps, signal?: AbortSignal) =>
  ask<Answers>("/api/page/plots", { query, ...steps }, { signal, method: "POST" });

/** What tasks did at the last tick before a time. */
export const tasks = (at_ms: number, by: "process" | "thread", signal?: AbortSignal) =>
  ask<Tasks>("/api/page/tasks", { at_ms, by }, { signal });

/** What was wrong in a window; of some tasks also where their time went. */
export const why = (window: Window, target: string, signal?: AbortSignal) =>
  ask<Why>("/api/page/why", { ...window, target }, { signal });

/** A process at the end of a window, or the last of its number in it. */
export const process = (pid: string, started_ms: number | null, { from_ms, to_ms }: Window, signal?: AbortSignal) =>
  ask<ProcessDetail | null>("/api/page/process", { pid, from_ms, at_ms: to_ms, ...(started_ms !== null && { started_ms }) }, { signal });

/** What a process does at this moment; null: it is gone. */
export const inspection = (pid: string, signal?: AbortSignal) => ask<Outcome>("/api/page/inspection", { pid }, { signal });

/** The tasks of a selector that ended in a window. */
export const exits = (of: string, window: Window, signal?: AbortSignal) =>
  ask<Exits>("/api/page/exits", { of, ...window }, { signal });

/** The marks in a window. */
export const marks = (window: Window, signal?: AbortSignal) =>
  ask<MarkEntry[]>("/api/page/marks", { ...window }, { signal });

/** Checks in which a text is, of a state: "problems", "all" or one; and all of them in a few letters. */
export const checks = (find: string, state: string, signal?: AbortSignal) =>
  ask<Checks>("/api/page/checks", { find, state, grid: 1 }, { signal });

/** How many checks are in each state. */
export const check_counts = (signal?: AbortSignal) => ask<Checks>("/api/page/checks", { state: "none" }, { signal });

/** One check. */
export const check = (name: string, signal?: AbortSignal) => ask<CheckDetail>("/api/page/check", { name }, { signal });

/** What changed of alerts or checks, the newest first; with a name of that one alone. */
export const changes = (of: "alerts" | "checks", name: string | null, signal?: AbortSignal) =>
  ask<ChangeEntry[]>("/api/page/changes", { of, ...(name !== null && { name }) }, { signal });

/** Times without notifications of alerts. */
export const silences = (signal?: AbortSignal) => ask<SilenceEntry[]>("/api/page/silences", {}, { signal });

/** Who is sent what is recorded. */
export const receivers = (signal?: AbortSignal) => ask<ReceiverEntry[]>("/api/page/receivers", {}, { signal });

/** Adds one: for a rule or a selector. */
export const silence = (selector: string, minutes: number, comment: string) =>
  ask<SilenceEntry[]>("/api/page/silences", { selector, minutes, comment }, { method: "POST" });

export const end_silence = (number: number) =>
  ask<SilenceEntry[]>("/api/page/silences/end", { number }, { method: "POST" });

/** Asks for something about a check: acknowledge, unacknowledge, downtime, end-downtime, now. */
export const ask_check = (what: string, parameters: Parameters) =>
  ask<{ accepted: number }>(`/api/v1/checks/${what}`, parameters, { method: "POST" });

/** Sets a mark. */
export const set_mark = (at_ms: number, text: string) =>
  ask<MarkEntry[]>("/api/page/marks", { at_ms, text }, { method: "POST" });

/** Rules with their alerts, as Prometheus lists its own. */
export const rules = (signal?: AbortSignal) => ask<{ groups: RuleGroup[] }>("/api/v1/rules", {}, { signal });

export interface RuleGroup {
  interval: number;
  rules: Rule[];
}

export interface Rule {
  name: string;
  query: string;
  /** How long it must hold, in seconds. */
  duration: number;
  state: "firing" | "pending" | "inactive";
  lastError?: string;
  alerts: RuleAlert[];
}

export interface RuleAlert {
  labels: { [key in string]: string };
  annotations: { summary?: string };
  state: string;
  activeAt: string;
}

/** A machine of a fleet, as agent/src/http/fleet.rs has it. */
export interface Machine {
  name: string;
  /** Its newest sample; null: it sends nothing. */
  seen_ns: number | null;
  /** About when a silent one was seen last. */
  silent_since_ns: number | null;
  cpus_count: number | null;
  busy_cpus: number | null;
  /** What its tasks waited for, the longest first. */
  waits: { cause: string; waited_ratio: number }[];
  memory_bytes: number | null;
  memory_available_bytes: number | null;
  fullest: { mountpoint: string; available_ratio: number } | null;
  largest: { comm: string; used_cpus: number } | null;
  version: string | null;
  clock_ahead_ns: number | null;
  /** The worst first. */
  troubles: { severity: string; text: string }[];
}

export interface FleetReply {
  at_ms: number;
  /** Those in trouble first. */
  machines: Machine[];
  /** What the store did not answer. */
  faults: string[];
}

/** All machines of the fleet. */
export const fleet = (signal?: AbortSignal) => ask<FleetReply>("/api/page/fleet", {}, { signal });

/** How busy all of them were in the last hour, as agent/src/http/fleet.rs has it. */
export interface FleetPast {
  from_ms: number;
  step_ms: number;
  /** By their names: percent of all CPUs at each step; null: no sample. */
  busy_percent: Record<string, (number | null)[]>;
}

export const fleet_past = (signal?: AbortSignal) => ask<FleetPast>("/api/page/fleet/past", {}, { signal });

/** What a program or a unit did, in seconds in each second; null: it is not among the largest twenty by that. */
export interface Use {
  /** Empty: tasks that are in no unit. */
  name: string;
  on_cpu_ratio: number | null;
  run_queue_ratio: number | null;
  block_io_ratio: number | null;
  memory_ratio: number | null;
  resident_bytes: number | null;
}

/** Why one of them was slow. */
export const fleet_why = (machine: string, { from_ms, to_ms }: Window, signal?: AbortSignal) =>
  ask<Why>("/api/page/fleet/why", { machine, from_ms, to_ms }, { signal });

/** What the programs and the units of one of them did, as agent/src/http/fleet.rs has it. */
export const fleet_uses = (machine: string, at_ms: number, signal?: AbortSignal) =>
  ask<{ programs: Use[]; units: Use[] }>("/api/page/fleet/uses", { machine, at_ms }, { signal });

/** The values of expressions about one of them at each step. */
export const fleet_plots = (machine: string) => (query: string[], steps: Steps, signal?: AbortSignal) =>
  ask<Answers>("/api/page/fleet/plots", { machine, query, ...steps }, { signal, method: "POST" });

/** What expressions can be made of. */
export async function language(): Promise<Language> {
  if (known_language === null || Date.now() - known_language.asked_ms > LANGUAGE_MS) {
    known_language = { asked_ms: Date.now(), language: await ask<Language>("/api/page/language", {}) };
  }
  return known_language.language;
}

/** New metrics are known after so long. */
const LANGUAGE_MS = 300_000;
let known_language: { asked_ms: number; language: Language } | null = null;

/** The values of a label of a metric in the last hour. */
export const label_values = (label: string, metric: string) =>
  ask<string[]>(`/api/v1/label/${encodeURIComponent(label)}/values`, { "match[]": metric, start: Date.now() / 1000 - 3600, limit: 500 });

/** Where an expression can be had as a file. */
export const download = (kind: "csv" | "svg", query: string, steps: Steps, utc_offset_s: number) =>
  `/api/page/download/${kind}?${form({ query, ...steps, utc_offset_s })}`;

/** Where events are to be had: the values of expressions, and tasks, at every tick. */
export const live = (query: string[], by: "process" | "thread") => `/api/page/live?${form({ query, by })}`;
