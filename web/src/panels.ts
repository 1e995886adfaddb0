// What is plotted. `W` in an expression stands for the range of its rates.

import type { Parts } from "./parts";
import type { FigureEntry } from "./replies";
import type { Measure } from "./units";

export interface Panel {
  title: string;
  measure: Measure;
  /** Lines on top of one another: they add up. */
  is_stacked: boolean;
  curves: Curve[];
  /** What is said where nothing was recorded: why, and how to get it. */
  absent: string;
  /** One of the first, and larger than the others. */
  is_large?: boolean;
  /** It is as high as the screen has room. */
  fills?: boolean;
  /** The number beside the title: that of all curves together, or of the highest one; none if neither says something. */
  present?: "sum" | "highest";
  /** The parts of the machine whose sum it shows; the page has plots of each. */
  parts?: Parts;
  /** Curves that are 0 all the time are left out, unless all are. */
  leaves_out_zeros?: boolean;
  /** A machine need not have it: without curves it is as if all were 0. */
  is_optional?: boolean;
}

export interface Curve {
  expression: string;
  /** What it is called; `{label}` stands for a label of its series. */
  name: string;
  /** Its colour in the style sheet, if that is none of those of curves. */
  colour?: string;
  /** It is a limit of the others, and no value. */
  is_limit?: boolean;
  /** It is not drawn: its value is the number beside the title. */
  is_number?: boolean;
}

const CPUS = "scalar(count(count by (cpu) (node_cpu_seconds_total)))";
const of_cpu = (mode: string) => `sum(rate(node_cpu_seconds_total{mode="${mode}"}[W])) / ${CPUS}`;

/** The part of the time of all CPUs in which they did something, over a range. */
export const busy = (range: string) =>
  `1 - sum(rate(node_cpu_seconds_total{mode=~"idle|iowait|steal"}[${range}])) / sum(rate(node_cpu_seconds_total[${range}]))`;

/** Parts of memory as `whit free` has them: docs/MEMORY.md. */
const ANONYMOUS = "node_memory_AnonPages_bytes + node_memory_Shmem_bytes";
const KERNEL =
  "node_memory_SUnreclaim_bytes + node_memory_KernelStack_bytes + node_memory_PageTables_bytes + (node_memory_Percpu_bytes or 0 * node_memory_MemTotal_bytes)";
const CACHES =
  "node_memory_Buffers_bytes + node_memory_Cached_bytes - node_memory_Shmem_bytes + (node_memory_KReclaimable_bytes or node_memory_SReclaimable_bytes)";
/** As `whit free` counts it: what new programs cannot have. */
export const MEMORY_USED = "node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes";
const OTHERS = `clamp_min(node_memory_MemTotal_bytes - node_memory_MemFree_bytes - (${ANONYMOUS} + ${KERNEL} + ${CACHES}), 0)`;

/** Parts of a task's time that add up, as the agent names them, in words, and their colours. */
const TIMES: [string, string, string][] = [
  ["on_cpu", "on a CPU", "--on-cpu"],
  ["run_queue", "waiting for a CPU", "--run-queue"],
  ["block_io", "waiting for a disk", "--block-io"],
];

/** Modes of a CPU, and their colours: those of waits are left to waits. */
const MODES: [string, string][] = [
  ["user", "--on-cpu"],
  ["system", "--curve-6"],
  ["nice", "--curve-8"],
  ["irq", "--curve-5"],
  ["softirq", "--curve-7"],
  ["steal", "--curve-4"],
];

/** Waits that overlap with these. */
const MEMORY_WAITS: [string, string][] = [
  ["swap_in", "for swapped pages"],
  ["thrashing", "for evicted pages"],
  ["reclaim", "until memory was freed"],
  ["compaction", "until memory was compacted"],
];

/** The time that tasks wanted to go on: they did, or waited. */
const WANTED = TIMES.map(([state]) => state).join("|");

const NO_TASKS =
  "No tasks were recorded. The agent records them unless its configuration says otherwise; it needs CAP_NET_ADMIN and sysctl kernel.task_delayacct=1 for waits.";

/** Where the time of tasks went: of all of them, or of those of a selector. The parts that add up are shares of the time that they wanted. */
function time_panels(of: string | null): Panel[] {
  const time = (state: string) =>
    of === null ? `sum(rate(whit_tasks_seconds_total{state="${state}"}[W]))` : `sum(rate(whit_task_${state}_seconds_total${of}[W]))`;
  const wanted =
    of === null
      ? `sum(rate(whit_tasks_seconds_total{state=~"${WANTED}"}[W]))`
      : // What the kernel does not count, as waits without delay accounting, adds nothing.
        TIMES.map(([state]) => `(${time(state)} or 0 * ${time("on_cpu")})`).join(" + ");
  // Of those that wanted none each part is 0.
  const part = ([state, name, colour]: [string, string, string]): Curve => ({ expression: `${time(state)} / clamp_min(${wanted}, 1e-9)`, name, colour });
  const curve = ([state, name]: [string, string]): Curve => ({ expression: time(state), name });
  return [
    { title: "Where the time of tasks went, sleep apart", measure: "ratio", is_stacked: true, absent: NO_TASKS, curves: TIMES.map(part), is_large: true },
    { title: "Waits for memory", measure: "ratio", is_stacked: false, absent: NO_TASKS, curves: MEMORY_WAITS.map(curve), present: "highest" },
  ];
}

/** The machine. `sees_all`: whether what all tasks did together is shown. */
export function machine_panels(sees_all: boolean): Panel[] {
  const [time, memory_waits] = time_panels(sees_all ? null : "") as [Panel, Panel];
  return [
    {
      title: "CPU",
      parts: "cpus",
      measure: "ratio",
      is_stacked: true,
      is_large: true,
      absent: "Nothing was recorded.",
      curves: [
        ...MODES.map(([mode, colour]) => ({ expression: of_cpu(mode), name: mode, colour })),
        // What the host took is nothing that the machine does.
        { expression: busy("W"), name: "busy", is_number: true },
      ],
    },
    time,
    {
      title: "Memory",
      measure: "bytes",
      is_stacked: true,
      absent: "Nothing was recorded.",
      curves: [
        { expression: ANONYMOUS, name: "anonymous" },
        { expression: KERNEL, name: "kernel" },
        { expression: OTHERS, name: "others" },
        { expression: CACHES, name: "caches" },
        { expression: "node_memory_MemFree_bytes", name: "free", colour: "--line" },
        { expression: MEMORY_USED, name: "used", is_number: true },
      ],
    },
    {
      title: "Swap",
      measure: "bytes",
      is_stacked: false,
      present: "sum",
      absent: "There is none.",
      curves: [{ expression: "node_memory_SwapTotal_bytes - node_memory_SwapFree_bytes", name: "swapped" }],
    },
    {
      title: "Pressure",
      measure: "ratio",
      is_stacked: false,
      present: "highest",
      absent: "The kernel does not count it: since Linux 4.20 it does, if built with CONFIG_PSI and started with psi=1.",
      curves: [
        ["cpu", "a CPU", "--run-queue"],
        ["io", "io", "--block-io"],
        ["memory", "memory", "--memory"],
      ].map(([what, words, colour]) => ({ expression: `rate(node_pressure_${what}_waiting_seconds_total[W])`, name: `waiting for ${words}`, colour: colour! })),
    },
    {
      title: "Processes and threads started",
      measure: "rate",
      is_stacked: false,
      present: "sum",
      absent: "Nothing was recorded.",
      curves: [{ expression: "rate(node_forks_total[W])", name: "started" }],
    },
    {
      title: "Disks",
      parts: "disks",
      measure: "bytes_per_second",
      is_stacked: false,
      present: "sum",
      absent: "There are no disks, or /proc/diskstats cannot be read.",
      curves: [
        { expression: "sum(rate(node_disk_read_bytes_total[W]))", name: "read" },
        { expression: "sum(rate(node_disk_written_bytes_total[W]))", name: "written" },
      ],
    },
    {
      title: "Network",
      parts: "interfaces",
      measure: "bytes_per_second",
      is_stacked: false,
      present: "sum",
      absent: "There is no network but the loopback's.",
      curves: [
        { expression: 'sum(rate(node_network_receive_bytes_total{device!="lo"}[W]))', name: "received" },
        { expression: 'sum(rate(node_network_transmit_bytes_total{device!="lo"}[W]))', name: "sent" },
      ],
    },
    {
      title: "Network losses",
      measure: "rate",
      is_stacked: false,
      present: "highest",
      absent: "The kernel's counters of TCP and UDP cannot be read.",
      curves: [
        { expression: "rate(node_netstat_Tcp_RetransSegs[SLOW])", name: "segments sent again" },
        { expression: "rate(node_netstat_TcpExt_ListenOverflows[SLOW])", name: "attempts to connect to a full queue" },
        {
          expression: "rate(node_netstat_Udp_RcvbufErrors[SLOW]) + (rate(node_netstat_Udp6_RcvbufErrors[SLOW]) or vector(0))",
          name: "datagrams lost",
        },
      ],
    },
    {
      title: "Fullest filesystem",
      parts: "filesystems",
      measure: "ratio",
      is_stacked: false,
      present: "highest",
      absent: "No filesystem is recorded.",
      curves: [{ expression: "max((1 - node_filesystem_avail_bytes / node_filesystem_size_bytes) unless node_filesystem_readonly == 1)", name: "used" }],
    },
    {
      title: "Temperature",
      parts: "sensors",
      measure: "celsius",
      is_stacked: false,
      is_optional: true,
      present: "highest",
      absent: "There are no sensors.",
      curves: [{ expression: "max(whit_temperature_celsius)", name: "highest" }],
    },
    memory_waits,
  ];
}

/** A check: its states, and what its plugin measures. */
export function check_panels(of: string, figures: FigureEntry[]): Panel[] {
  const absent = "Nothing was recorded of it in this time.";
  return [
    { title: "State: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN", measure: "number", is_stacked: false, absent, curves: [{ expression: `whit_check_state${of}`, name: "state" }] },
    ...figures.map((figure) => figure_panel(of, figure, absent)),
  ];
}

/** A figure, between the limits of its plugin. */
function figure_panel(of: string, { name, unit }: FigureEntry, absent: string): Panel {
  const selector = (more: string) => `{${of.slice(1, -1)},figure=${JSON.stringify(name)}${more}}`;
  const limit = (severity: string, colour: string) => ({ expression: `whit_check_threshold${selector(`,severity="${severity}"`)}`, name: severity, colour, is_limit: true });
  const measure = UNITS[unit];
  return {
    title: measure || unit === "" ? name : `${name} (${unit})`,
    measure: measure ?? "number",
    is_stacked: false,
    present: "sum",
    absent,
    curves: [{ expression: `whit_check_figure${selector("")}`, name }, limit("warning", "--curve-5"), limit("critical", "--alert")],
  };
}

/** The units of figures that are measures. */
const UNITS: Record<string, Measure> = { seconds: "seconds", bytes: "bytes", ratio: "ratio" };

/** The tasks of a selector. */
export function task_panels(of: string): Panel[] {
  const [time, memory_waits] = time_panels(of) as [Panel, Panel];
  return [
    time,
    {
      title: "Threads asleep, by what they wait for",
      measure: "number",
      is_stacked: true,
      is_large: true,
      present: "sum",
      absent: "What sleeping tasks wait for is known from Linux 5.15 on, if the agent has CAP_BPF.",
      curves: [{ expression: `sum by (reason) (whit_task_waiting${of})`, name: "{reason}" }],
    },
    {
      title: "Memory",
      measure: "bytes",
      is_stacked: false,
      present: "sum",
      absent: NO_TASKS,
      curves: [{ expression: `sum(whit_task_resident_bytes${of})`, name: "resident" }],
    },
    {
      title: "Disks",
      measure: "bytes_per_second",
      is_stacked: false,
      present: "sum",
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
      present: "sum",
      absent: NO_TASKS,
      curves: [
        { expression: `sum(rate(whit_task_voluntary_switches_total${of}[W]))`, name: "by itself" },
        { expression: `sum(rate(whit_task_involuntary_switches_total${of}[W]))`, name: "forced" },
      ],
    },
    memory_waits,
  ];
}
