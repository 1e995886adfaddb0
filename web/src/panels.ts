// What is plotted. `W` in an expression stands for the range of its rates.

import type { Measure } from "./units";

export interface Panel {
  title: string;
  measure: Measure;
  /** Lines on top of one another: they add up. */
  is_stacked: boolean;
  curves: Curve[];
  /** What is said where nothing was recorded: why, and how to get it. */
  absent: string;
}

export interface Curve {
  expression: string;
  /** What it is called; `{label}` stands for a label of its series. */
  name: string;
}

const CPUS = "scalar(count(count by (cpu) (node_cpu_seconds_total)))";
const of_cpu = (mode: string) => `sum(rate(node_cpu_seconds_total{mode="${mode}"}[W])) / ${CPUS}`;

/** Parts of a task's time that add up, as the agent names them, and in words. */
const TIMES: [string, string][] = [
  ["on_cpu", "on a CPU"],
  ["run_queue", "waiting for a CPU"],
  ["block_io", "waiting for a disk"],
];

/** Waits that overlap with these. */
const MEMORY_WAITS: [string, string][] = [
  ["swap_in", "for swapped pages"],
  ["thrashing", "for evicted pages"],
  ["reclaim", "until memory was freed"],
  ["compaction", "until memory was compacted"],
];

const NO_TASKS =
  "No tasks were recorded. The agent records them unless its configuration says otherwise; it needs CAP_NET_ADMIN and sysctl kernel.task_delayacct=1 for waits.";

/** Where the time of tasks went: of all of them, or of those of a selector. */
function time_panels(of: string | null): Panel[] {
  const curve = ([state, name]: [string, string]): Curve => {
    const of_all = `rate(whit_tasks_seconds_total{state="${state}"}[W])`;
    return { expression: of === null ? of_all : `sum(rate(whit_task_${state}_seconds_total${of}[W]))`, name };
  };
  return [
    { title: "Where the time went", measure: "ratio", is_stacked: true, absent: NO_TASKS, curves: TIMES.map(curve) },
    { title: "Waits for memory", measure: "ratio", is_stacked: false, absent: NO_TASKS, curves: MEMORY_WAITS.map(curve) },
  ];
}

/** The machine. `sees_all`: whether what all tasks did together is shown. */
export function machine_panels(sees_all: boolean): Panel[] {
  const [time, memory_waits] = time_panels(sees_all ? null : "") as [Panel, Panel];
  return [
    {
      title: "CPU",
      measure: "ratio",
      is_stacked: true,
      absent: "Nothing was recorded.",
      curves: ["user", "system", "nice", "irq", "softirq", "steal"].map((mode) => ({ expression: of_cpu(mode), name: mode })),
    },
    time,
    {
      title: "Memory",
      measure: "bytes",
      is_stacked: false,
      absent: "Nothing was recorded.",
      curves: [
        { expression: "node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes", name: "used" },
        { expression: "node_memory_MemTotal_bytes", name: "total" },
        { expression: "node_memory_SwapTotal_bytes - node_memory_SwapFree_bytes", name: "swapped" },
      ],
    },
    {
      title: "Pressure",
      measure: "ratio",
      is_stacked: false,
      absent: "The kernel does not count it: since Linux 4.20 it does, if built with CONFIG_PSI and started with psi=1.",
      curves: ["cpu", "io", "memory"].map((what) => ({
        expression: `rate(node_pressure_${what}_waiting_seconds_total[W])`,
        name: `waiting for ${what === "cpu" ? "a CPU" : what}`,
      })),
    },
    {
      title: "Disks",
      measure: "bytes_per_second",
      is_stacked: false,
      absent: "There are no disks, or /proc/diskstats cannot be read.",
      curves: [
        { expression: "sum(rate(node_disk_read_bytes_total[W]))", name: "read" },
        { expression: "sum(rate(node_disk_written_bytes_total[W]))", name: "written" },
      ],
    },
    {
      title: "Network",
      measure: "bytes_per_second",
      is_stacked: false,
      absent: "There is no network but the loopback's.",
      curves: [
        { expression: 'sum(rate(node_network_receive_bytes_total{device!="lo"}[W]))', name: "received" },
        { expression: 'sum(rate(node_network_transmit_bytes_total{device!="lo"}[W]))', name: "sent" },
      ],
    },
    memory_waits,
  ];
}

/** A check: its states, and what its plugin measures. */
export function check_panels(of: string): Panel[] {
  const absent = "Nothing was recorded of it in this time.";
  return [
    { title: "State: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN", measure: "number", is_stacked: false, absent, curves: [{ expression: `whit_check_state${of}`, name: "state" }] },
    {
      title: "Figures",
      measure: "number",
      is_stacked: false,
      absent: "Its plugin measures nothing, or was not run in this time.",
      curves: [{ expression: `whit_check_figure${of}`, name: "{figure}" }],
    },
  ];
}

/** The tasks of a selector. */
export function task_panels(of: string): Panel[] {
  return [
    ...time_panels(of),
    {
      title: "Threads asleep, by what they wait for",
      measure: "number",
      is_stacked: true,
      absent: "What sleeping tasks wait for is known from Linux 5.15 on, if the agent has CAP_BPF.",
      curves: [{ expression: `sum by (reason) (whit_task_waiting${of})`, name: "{reason}" }],
    },
    {
      title: "Memory",
      measure: "bytes",
      is_stacked: false,
      absent: NO_TASKS,
      curves: [{ expression: `sum(whit_task_resident_bytes${of})`, name: "resident" }],
    },
    {
      title: "Disks",
      measure: "bytes_per_second",
      is_stacked: false,
      absent: "What tasks read and write is counted since Linux 2.6.20, for the agent's own tasks unless it has CAP_SYS_PTRACE or BPF.",
      curves: [
        { expression: `sum(rate(whit_task_read_bytes_total${of}[W]))`, name: "read" },
        { expression: `sum(rate(whit_task_written_bytes_total${of}[W]))`, name: "written" },
      ],
    },
    {
      title: "Context switches",
      measure: "rate",
      is_stacked: false,
      absent: NO_TASKS,
      curves: [
        { expression: `sum(rate(whit_task_voluntary_switches_total${of}[W]))`, name: "by itself" },
        { expression: `sum(rate(whit_task_involuntary_switches_total${of}[W]))`, name: "forced" },
      ],
    },
  ];
}
