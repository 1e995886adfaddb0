// What the overview plots. `W` in an expression stands for the range of its rates.

import type { Unit } from "./units";

export interface Panel {
  title: string;
  unit: Unit;
  /** Lines on top of one another: they add up. */
  is_stacked: boolean;
  curves: Curve[];
}

export interface Curve {
  expression: string;
  /** What it is called; `{label}` stands for a label of its series. */
  name: string;
}

const CPUS = "scalar(count(count by (cpu) (node_cpu_seconds_total)))";
const of_cpu = (mode: string) => `sum(rate(node_cpu_seconds_total{mode="${mode}"}[W])) / ${CPUS}`;
const of_tasks = (what: string) => `sum(rate(whit_task_${what}_seconds_total[W]))`;

export const PANELS: Panel[] = [
  {
    title: "CPU",
    unit: "percent",
    is_stacked: true,
    curves: ["user", "system", "nice", "irq", "softirq", "steal"].map((mode) => ({ expression: of_cpu(mode), name: mode })),
  },
  {
    title: "Memory",
    unit: "bytes",
    is_stacked: false,
    curves: [
      { expression: "node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes", name: "used" },
      { expression: "node_memory_MemTotal_bytes", name: "total" },
      { expression: "node_memory_SwapTotal_bytes - node_memory_SwapFree_bytes", name: "swapped" },
    ],
  },
  {
    title: "Where tasks' time went",
    unit: "seconds",
    is_stacked: true,
    curves: [
      { expression: of_tasks("on_cpu"), name: "on a CPU" },
      { expression: of_tasks("run_queue"), name: "waiting for a CPU" },
      { expression: of_tasks("block_io"), name: "waiting for a disk" },
    ],
  },
  {
    title: "Pressure",
    unit: "percent",
    is_stacked: false,
    curves: ["cpu", "io", "memory"].map((what) => ({
      expression: `rate(node_pressure_${what}_waiting_seconds_total[W])`,
      name: what,
    })),
  },
  {
    title: "Disks",
    unit: "bytes_per_second",
    is_stacked: false,
    curves: [
      { expression: "sum(rate(node_disk_read_bytes_total[W]))", name: "read" },
      { expression: "sum(rate(node_disk_written_bytes_total[W]))", name: "written" },
    ],
  },
  {
    title: "Network",
    unit: "bytes_per_second",
    is_stacked: false,
    curves: [
      { expression: 'sum(rate(node_network_receive_bytes_total{device!="lo"}[W]))', name: "received" },
      { expression: 'sum(rate(node_network_transmit_bytes_total{device!="lo"}[W]))', name: "sent" },
    ],
  },
];
