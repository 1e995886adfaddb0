// Asks the agent.

import type { Status, Tasks, Why } from "./replies";

/** One series: its labels, and pairs of seconds since 1970 and a number as text. */
export interface Series {
  metric: Record<string, string>;
  values: [number, string][];
}

interface Reply<T> {
  status: "success" | "error";
  data: T;
  error?: string;
}

/** Why the agent did not answer, in words for people. */
export class Refused extends Error {}

async function get<T>(path: string, parameters: Record<string, string | number>, signal?: AbortSignal): Promise<T> {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  let response: Response;
  try {
    response = await fetch(`${path}?${query}`, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("the agent does not answer: does whit agent run?");
  }
  const reply = (await response.json()) as Reply<T>;
  if (reply.status !== "success") throw new Refused(reply.error ?? response.statusText);
  return reply.data;
}

export const status = (signal?: AbortSignal) => get<Status>("/api/page/status", {}, signal);

/** The values of an expression, from one time to another in milliseconds since 1970. */
export async function range(query: string, from_ms: number, to_ms: number, step_ms: number, signal?: AbortSignal) {
  const times = { start: from_ms / 1000, end: to_ms / 1000, step: step_ms / 1000 };
  const answer = await get<{ result: Series[] }>("/api/v1/query_range", { query, ...times }, signal);
  return answer.result;
}

/** The value of an expression now; null if it has none. */
export async function value(query: string, signal?: AbortSignal): Promise<number | null> {
  const answer = await get<{ result: { value: [number, string] }[] }>("/api/v1/query", { query }, signal);
  const found = answer.result[0];
  return found ? Number(found.value[1]) : null;
}

/** What tasks did at the last tick before a time. */
export const tasks = (at_ms: number, by: string, signal?: AbortSignal) =>
  get<Tasks>("/api/page/tasks", { at_ms, by }, signal);

/** What was wrong between two times. */
export const why = (from_ms: number, to_ms: number, signal?: AbortSignal) =>
  get<Why>("/api/page/why", { from_ms, to_ms }, signal);
