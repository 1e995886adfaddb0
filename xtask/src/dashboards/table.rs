//! What the dashboards show. `$m` in an expression stands for the machines that are chosen, `$w` for the range of a rate.

/// A dashboard.
pub(super) struct Dashboard {
    /// The name of its file.
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    /// Whether one machine is chosen, or some.
    pub(super) is_of_one: bool,
    pub(super) panels: &'static [Panel],
}

/// A part of a dashboard.
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) shape: Shape,
    pub(super) unit: Unit,
    /// Of a width of 24.
    pub(super) width: u8,
    /// Expressions; the name of each curve or column, in which `{{label}}` stands for a label.
    pub(super) curves: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy)]
pub(super) enum Shape {
    Lines,
    /// Lines on top of one another: they add up.
    Stack,
    /// A column for each expression, a row for each machine or other label.
    Table,
}

/// What values are.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Bytes,
    BytesPerSecond,
    /// CPUs, tasks, checks.
    Count,
    Ratio,
    Seconds,
    /// Seconds in each second.
    Waiting,
}

const fn panel(
    title: &'static str,
    (shape, unit, width): (Shape, Unit, u8),
    curves: &'static [(&'static str, &'static str)],
) -> Panel {
    Panel { title, shape, unit, width, curves }
}

use Shape::{Lines, Stack, Table};
use Unit::{Bytes, BytesPerSecond, Count, Ratio, Seconds, Waiting};

pub(super) const DASHBOARDS: [Dashboard; 4] = [
    Dashboard {
        file: "fleet",
        title: "whit: fleet",
        is_of_one: false,
        panels: &[
            panel(
                "Machines",
                (Table, Ratio, 24),
                &[
                    (
                        "sum by (instance) (rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$m}[$w])) / count by (instance) (node_cpu_seconds_total{mode=\"idle\",$m})",
                        "CPU",
                    ),
                    (
                        "max by (instance) (node_memory_MemAvailable_bytes{$m} / node_memory_MemTotal_bytes{$m})",
                        "memory left",
                    ),
                    (
                        "min by (instance) (node_filesystem_avail_bytes{fstype!~\"tmpfs|ramfs|squashfs|iso9660|erofs|overlay\",$m} / node_filesystem_size_bytes{$m})",
                        "fullest disk, left",
                    ),
                    (
                        "max by (instance) (rate(node_pressure_io_waiting_seconds_total{$m}[$w]))",
                        "waiting for disks",
                    ),
                    (
                        "max by (instance) (rate(node_pressure_memory_waiting_seconds_total{$m}[$w]))",
                        "waiting for memory",
                    ),
                ],
            ),
            panel(
                "Alerts that fire",
                (Stack, Count, 12),
                &[("count by (alertname) (ALERTS{alertstate=\"firing\",$m})", "{{alertname}}")],
            ),
            panel(
                "Checks with a problem",
                (Stack, Count, 12),
                &[("count by (check) (whit_check_state{$m} > 0)", "{{check}}")],
            ),
            panel(
                "The busiest machines",
                (Lines, Count, 12),
                &[(
                    "topk(10, sum by (instance) (rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$m}[$w])))",
                    "{{instance}}",
                )],
            ),
            panel(
                "Those that wait most for a CPU",
                (Lines, Waiting, 12),
                &[(
                    "topk(10, sum by (instance) (rate(whit_tasks_seconds_total{state=\"run_queue\",$m}[$w])))",
                    "{{instance}}",
                )],
            ),
            panel(
                "Those that wait most for disks",
                (Lines, Waiting, 12),
                &[(
                    "topk(10, sum by (instance) (rate(whit_tasks_seconds_total{state=\"block_io\",$m}[$w])))",
                    "{{instance}}",
                )],
            ),
            panel(
                "Those with least memory left",
                (Lines, Bytes, 12),
                &[("bottomk(10, max by (instance) (node_memory_MemAvailable_bytes{$m}))", "{{instance}}")],
            ),
            panel(
                "Age of the newest sample",
                (Lines, Seconds, 12),
                &[(
                    "topk(10, time() - max by (instance) (timestamp(whit_agent_cpu_seconds_total{$m})))",
                    "{{instance}}",
                )],
            ),
            panel(
                "Versions",
                (Stack, Count, 12),
                &[("count by (version) (whit_build_info{$m})", "{{version}}")],
            ),
        ],
    },
    Dashboard {
        file: "machine",
        title: "whit: machine",
        is_of_one: true,
        panels: &[
            panel(
                "CPU",
                (Stack, Count, 12),
                &[("sum by (mode) (rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$m}[$w]))", "{{mode}}")],
            ),
            panel(
                "Where the time of tasks went, sleep apart",
                (Stack, Waiting, 12),
                &[(
                    "sum by (state) (rate(whit_tasks_seconds_total{state=~\"on_cpu|run_queue|block_io\",$m}[$w]))",
                    "{{state}}",
                )],
            ),
            panel(
                "Memory",
                (Stack, Bytes, 12),
                &[
                    ("node_memory_AnonPages_bytes{$m} + node_memory_Shmem_bytes{$m}", "anonymous"),
                    (
                        "node_memory_SUnreclaim_bytes{$m} + node_memory_KernelStack_bytes{$m} + node_memory_PageTables_bytes{$m}",
                        "kernel",
                    ),
                    (
                        "node_memory_Buffers_bytes{$m} + node_memory_Cached_bytes{$m} - node_memory_Shmem_bytes{$m} + node_memory_SReclaimable_bytes{$m}",
                        "caches",
                    ),
                    ("node_memory_MemFree_bytes{$m}", "free"),
                ],
            ),
            panel(
                "Waits for memory",
                (Lines, Waiting, 12),
                &[(
                    "sum by (state) (rate(whit_tasks_seconds_total{state=~\"swap_in|thrashing|reclaim|compaction\",$m}[$w]))",
                    "{{state}}",
                )],
            ),
            panel(
                "Pressure",
                (Lines, Ratio, 12),
                &[
                    ("rate(node_pressure_cpu_waiting_seconds_total{$m}[$w])", "CPU"),
                    ("rate(node_pressure_io_waiting_seconds_total{$m}[$w])", "disks"),
                    ("rate(node_pressure_memory_waiting_seconds_total{$m}[$w])", "memory"),
                ],
            ),
            panel(
                "Filesystems: what is left",
                (Lines, Ratio, 12),
                &[(
                    "node_filesystem_avail_bytes{fstype!~\"tmpfs|ramfs|squashfs|iso9660|erofs\",$m} / node_filesystem_size_bytes{$m}",
                    "{{mountpoint}}",
                )],
            ),
            panel(
                "Disks",
                (Lines, BytesPerSecond, 12),
                &[
                    ("rate(node_disk_read_bytes_total{$m}[$w])", "{{device}} read"),
                    ("rate(node_disk_written_bytes_total{$m}[$w])", "{{device}} written"),
                ],
            ),
            panel(
                "Network",
                (Lines, BytesPerSecond, 12),
                &[
                    ("rate(node_network_receive_bytes_total{device!=\"lo\",$m}[$w])", "{{device}} received"),
                    ("rate(node_network_transmit_bytes_total{device!=\"lo\",$m}[$w])", "{{device}} sent"),
                ],
            ),
            panel(
                "Programs that use most CPU time",
                (Stack, Count, 12),
                &[("topk(10, comm:whit_task_on_cpu_seconds:rate1m{$m})", "{{comm}}")],
            ),
            panel(
                "Programs that wait most for a CPU",
                (Stack, Waiting, 12),
                &[("topk(10, comm:whit_task_run_queue_seconds:rate1m{$m})", "{{comm}}")],
            ),
            panel(
                "Programs that wait most for disks",
                (Stack, Waiting, 12),
                &[("topk(10, comm:whit_task_block_io_seconds:rate1m{$m})", "{{comm}}")],
            ),
            panel(
                "The largest programs",
                (Stack, Bytes, 12),
                &[("topk(10, comm:whit_task_resident_bytes{$m})", "{{comm}}")],
            ),
            panel(
                "Services and containers that use most CPU time",
                (Stack, Count, 12),
                &[("topk(10, unit:whit_task_on_cpu_seconds:rate1m{$m})", "{{unit}} {{pod}} {{container}}")],
            ),
            panel(
                "The agent itself",
                (Lines, Ratio, 12),
                &[("rate(whit_agent_cpu_seconds_total{$m}[$w])", "CPUs")],
            ),
        ],
    },
    Dashboard {
        file: "time",
        title: "whit: where time went",
        is_of_one: false,
        panels: &[
            panel(
                "All machines, sleep apart",
                (Stack, Waiting, 24),
                &[(
                    "sum by (state) (rate(whit_tasks_seconds_total{state=~\"on_cpu|run_queue|block_io\",$m}[$w]))",
                    "{{state}}",
                )],
            ),
            panel(
                "On a CPU, by program",
                (Stack, Count, 12),
                &[("topk(10, sum by (comm) (comm:whit_task_on_cpu_seconds:rate1m{$m}))", "{{comm}}")],
            ),
            panel(
                "On a CPU, by service and container",
                (Stack, Count, 12),
                &[(
                    "topk(10, sum by (unit, container, pod) (unit:whit_task_on_cpu_seconds:rate1m{$m}))",
                    "{{unit}} {{pod}} {{container}}",
                )],
            ),
            panel(
                "Waiting for a CPU, by program",
                (Stack, Waiting, 12),
                &[("topk(10, sum by (comm) (comm:whit_task_run_queue_seconds:rate1m{$m}))", "{{comm}}")],
            ),
            panel(
                "Waiting for a CPU, by machine",
                (Stack, Waiting, 12),
                &[(
                    "topk(10, sum by (instance) (rate(whit_tasks_seconds_total{state=\"run_queue\",$m}[$w])))",
                    "{{instance}}",
                )],
            ),
            panel(
                "Waiting for disks, by program",
                (Stack, Waiting, 12),
                &[("topk(10, sum by (comm) (comm:whit_task_block_io_seconds:rate1m{$m}))", "{{comm}}")],
            ),
            panel(
                "Waiting for disks, by machine",
                (Stack, Waiting, 12),
                &[(
                    "topk(10, sum by (instance) (rate(whit_tasks_seconds_total{state=\"block_io\",$m}[$w])))",
                    "{{instance}}",
                )],
            ),
            panel(
                "Waiting for memory, by program",
                (Stack, Waiting, 12),
                &[("topk(10, sum by (comm) (comm:whit_task_memory_seconds:rate1m{$m}))", "{{comm}}")],
            ),
            panel(
                "Taken by the host, by machine",
                (Stack, Count, 12),
                &[(
                    "topk(10, sum by (instance) (rate(node_cpu_seconds_total{mode=\"steal\",$m}[$w])))",
                    "{{instance}}",
                )],
            ),
        ],
    },
    Dashboard {
        file: "checks",
        title: "whit: checks",
        is_of_one: false,
        panels: &[
            panel(
                "Problems",
                (Table, Count, 24),
                &[(
                    "max by (instance, host, check) (whit_check_state{$m}) > 0",
                    "1 warning, 2 critical, 3 unknown",
                )],
            ),
            panel(
                "Checks by state",
                (Stack, Count, 12),
                &[
                    ("sum(whit_check_state{$m} == bool 0)", "OK"),
                    ("sum(whit_check_state{$m} == bool 1)", "warning"),
                    ("sum(whit_check_state{$m} == bool 2)", "critical"),
                    ("sum(whit_check_state{$m} == bool 3)", "unknown"),
                ],
            ),
            panel(
                "Problems by machine",
                (Stack, Count, 12),
                &[("topk(10, count by (instance) (whit_check_state{$m} > 0))", "{{instance}}")],
            ),
            panel(
                "How long a run takes",
                (Lines, Seconds, 12),
                &[(
                    "topk(10, sum by (check) (rate(whit_check_run_seconds_total{$m}[15m])) / sum by (check) (rate(whit_check_runs_total{$m}[15m])))",
                    "{{check}}",
                )],
            ),
            panel(
                "CPUs that checks use",
                (Stack, Ratio, 12),
                &[("topk(10, sum by (check) (rate(whit_check_cpu_seconds_total{$m}[15m])))", "{{check}}")],
            ),
        ],
    },
];
