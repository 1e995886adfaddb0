// Tasks summed by what they have in common.

import type { TaskEntry } from "./replies";
import { selector, type Grouping } from "./view";

/** A row of the table. */
export interface Row extends TaskEntry {
  /** The tasks that it stands for, as a selector; null if there is none for them. */
  of: string | null;
}

const SUMMED = ["on_cpu", "run_queue", "block_io", "resident_bytes", "read_bytes", "written_bytes"] as const;

/** What the rows of a group have in common: the label of a task's series, its value, and how that reads if it is another text. */
function common(task: TaskEntry, by: Grouping): [string, string, string?] {
  switch (by) {
    case "thread":
      return ["tid", String(task.pid)];
    case "process":
      return ["pid", String(task.pid)];
    case "program":
      return ["comm", task.name];
    case "user":
      return ["user", task.user];
    case "cgroup":
      return ["cgroup", task.cgroup, task.cgroup_name];
  }
}

/** Rows of processes, or of threads, as rows of groups. */
export function grouped(tasks: Iterable<TaskEntry>, by: Grouping): Row[] {
  const rows: Row[] = [];
  const groups = new Map<string, Row>();
  for (const task of tasks) {
    const [label, value, name = value] = common(task, by);
    const is_single = by === "process" || by === "thread";
    const has_label = is_single ? task.pid !== null : value !== "";
    const of = has_label ? selector(label, value) : is_single ? selector("comm", task.name) : null;
    const known = is_single ? undefined : groups.get(value);
    if (known) {
      add(known, task);
      continue;
    }
    const row: Row = { ...task, of };
    if (!is_single) {
      groups.set(value, row);
      Object.assign(row, { name: name || "–", pid: null, started_ms: null });
    }
    rows.push(row);
  }
  return rows;
}

/** What is known of one of them is known of the sum. */
function add(sum: Row, task: TaskEntry): void {
  for (const key of SUMMED) {
    if (task[key] !== null) sum[key] = (sum[key] ?? 0) + task[key];
  }
  sum.threads += task.threads;
  sum.is_ended &&= task.is_ended;
  if (sum.waits_for !== task.waits_for) sum.waits_for = null;
  if (sum.user !== task.user) sum.user = "";
  if (sum.cgroup !== task.cgroup) sum.cgroup = sum.cgroup_name = "";
}
