// Marks and alerts over the whole of history.

import * as agent from "./agent";
import type { Window } from "./agent";
import type { Sign } from "./plot";
import { steps_of } from "./plots";

/** In the order of their times. */
export async function signs_in(whole: Window, signal: AbortSignal): Promise<Sign[]> {
  const steps = steps_of(whole, 0);
  // Also those that fired between two steps.
  const expression = `max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${steps.step_ms}ms]))`;
  const [marks, { answers }] = await Promise.all([
    agent.marks({ from_ms: whole.from_ms, to_ms: Date.now() }, signal),
    agent.plots([expression], steps, signal),
  ]);
  const alerts = answers[0]!.curves.flatMap(({ labels, values }) => runs(labels["alertname"] ?? "alert", values, steps));
  const set = marks.map(({ at_ms, text }): Sign => ({ kind: "mark", text, from_ms: at_ms, to_ms: at_ms }));
  return [...alerts, ...set].sort((one, other) => one.from_ms - other.from_ms);
}

/** The times in which an alert fired: each value is of the step that ends there. */
function runs(text: string, values: (number | null)[], { from_ms, step_ms }: agent.Steps): Sign[] {
  const found: Sign[] = [];
  values.forEach((value, step) => {
    if (value === null) return;
    const at_ms = from_ms + step * step_ms;
    const last = found.at(-1);
    if (last && last.to_ms >= at_ms - step_ms) last.to_ms = at_ms;
    else found.push({ kind: "alert", text, from_ms: Math.max(from_ms, at_ms - step_ms), to_ms: at_ms });
  });
  return found;
}
