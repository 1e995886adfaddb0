//! The figures of a task: one row a figure. JSON fields, documentation and exported series come from here.

use super::Kind::{self, Counter, Gauge};
use super::Unit::{self, Bytes, Count, Nanoseconds};
use crate::task::figure::Figure;
use crate::task::{Cause, TaskSource};
use TaskSource::{Bpf, Procfs, Sysctl, Taskstats};

/// A figure of a task.
#[derive(Debug)]
pub struct TaskMetric {
    /// Which.
    pub figure: Figure,
    /// The field in JSON, the unit last. Those of a cause are within an object of the cause's name.
    pub field: &'static str,
    /// The name of the series: base units (seconds, bytes), counters end in `_total`.
    pub exported: &'static str,
    /// The unit of the value.
    pub unit: Unit,
    /// How it behaves.
    pub kind: Kind,
    /// The first kernel that has it.
    pub since: &'static str,
    /// The sources that contain it.
    pub sources: &'static [TaskSource],
    /// A sentence that describes it.
    pub help: &'static str,
}

const EVERY: &[TaskSource] = &[Bpf, Taskstats, Procfs, Sysctl];
const LINUX: &[TaskSource] = &[Bpf, Taskstats, Procfs];
const PRIVILEGED: &[TaskSource] = &[Bpf, Taskstats];
const TICKS: &[TaskSource] = &[Taskstats, Procfs, Sysctl];
const RECORDS: &[TaskSource] = &[Taskstats];
const RECORDS_AND_SYSCTL: &[TaskSource] = &[Taskstats, Sysctl];

#[allow(clippy::too_many_arguments, reason = "the columns of a table")]
const fn row(
    figure: Figure,
    field: &'static str,
    exported: &'static str,
    unit: Unit,
    kind: Kind,
    since: &'static str,
    sources: &'static [TaskSource],
    help: &'static str,
) -> TaskMetric {
    TaskMetric { figure, field, exported, unit, kind, since, sources, help }
}

const fn delay(
    cause: Cause,
    exported: &'static str,
    since: &'static str,
    sources: &'static [TaskSource],
    help: &'static str,
) -> TaskMetric {
    row(Figure::delay(cause), "total_ns", exported, Nanoseconds, Counter, since, sources, help)
}

const fn count(
    cause: Cause,
    exported: &'static str,
    since: &'static str,
    sources: &'static [TaskSource],
    help: &'static str,
) -> TaskMetric {
    row(Figure::count(cause), "count", exported, Count, Counter, since, sources, help)
}

const fn maximum(cause: Cause, exported: &'static str, help: &'static str) -> TaskMetric {
    row(Figure::maximum(cause), "max_ns", exported, Nanoseconds, Gauge, "6.14", PRIVILEGED, help)
}

/// Every figure, in the order of [`Figure`].
#[rustfmt::skip]
pub const TASK_METRICS: [TaskMetric; Figure::COUNT] = [
    row(Figure::ON_CPU, "on_cpu_ns", "whit_task_on_cpu_seconds_total", Nanoseconds, Counter, "2.6.23", EVERY,
        "CPU time, precise to the scheduler's clock."),
    row(Figure::USER, "user_ns", "whit_task_user_seconds_total", Nanoseconds, Counter, "2.4", EVERY,
        "CPU time in user mode, counted in ticks."),
    row(Figure::SYSTEM, "system_ns", "whit_task_system_seconds_total", Nanoseconds, Counter, "2.4", EVERY,
        "CPU time in the kernel, counted in ticks."),
    delay(Cause::RunQueue, "whit_task_run_queue_seconds_total", "2.6.18", LINUX,
        "Runnable, waiting for a CPU."),
    delay(Cause::BlockIo, "whit_task_block_io_seconds_total", "2.6.18", LINUX,
        "Waiting for synchronous block I/O; from /proc in ticks."),
    delay(Cause::SwapIn, "whit_task_swap_in_seconds_total", "2.6.18", PRIVILEGED,
        "Waiting for pages from swap."),
    delay(Cause::Reclaim, "whit_task_reclaim_seconds_total", "2.6.27", PRIVILEGED,
        "Reclaiming memory."),
    delay(Cause::Thrashing, "whit_task_thrashing_seconds_total", "4.20", PRIVILEGED,
        "Waiting for pages that were evicted a short time ago."),
    delay(Cause::Compaction, "whit_task_compaction_seconds_total", "5.17", PRIVILEGED,
        "Compacting memory."),
    delay(Cause::Copy, "whit_task_copy_seconds_total", "5.19", PRIVILEGED,
        "Copying write-protected pages."),
    delay(Cause::Irq, "whit_task_irq_seconds_total", "6.4", PRIVILEGED,
        "Interrupts that ran while the task was on a CPU."),
    count(Cause::RunQueue, "whit_task_run_queue_waits_total", "2.6.18", LINUX,
        "Times on a CPU."),
    count(Cause::BlockIo, "whit_task_block_io_waits_total", "2.6.18", PRIVILEGED,
        "Waits for block I/O."),
    count(Cause::SwapIn, "whit_task_swap_in_waits_total", "2.6.18", PRIVILEGED,
        "Waits for pages from swap."),
    count(Cause::Reclaim, "whit_task_reclaim_waits_total", "2.6.27", PRIVILEGED,
        "Times that the task reclaimed memory."),
    count(Cause::Thrashing, "whit_task_thrashing_waits_total", "4.20", PRIVILEGED,
        "Waits for pages that were evicted a short time ago."),
    count(Cause::Compaction, "whit_task_compaction_waits_total", "5.17", PRIVILEGED,
        "Times that the task compacted memory."),
    count(Cause::Copy, "whit_task_copy_waits_total", "5.19", PRIVILEGED,
        "Write-protected pages that were copied."),
    count(Cause::Irq, "whit_task_irq_waits_total", "6.4", PRIVILEGED,
        "Interrupts that ran while the task was on a CPU."),
    maximum(Cause::RunQueue, "whit_task_run_queue_max_seconds", "The longest wait for a CPU."),
    maximum(Cause::BlockIo, "whit_task_block_io_max_seconds", "The longest wait for block I/O."),
    maximum(Cause::SwapIn, "whit_task_swap_in_max_seconds", "The longest wait for a page from swap."),
    maximum(Cause::Reclaim, "whit_task_reclaim_max_seconds", "The longest reclaim of memory."),
    maximum(Cause::Thrashing, "whit_task_thrashing_max_seconds", "The longest wait for an evicted page."),
    maximum(Cause::Compaction, "whit_task_compaction_max_seconds", "The longest compaction of memory."),
    maximum(Cause::Copy, "whit_task_copy_max_seconds", "The longest copy of a write-protected page."),
    maximum(Cause::Irq, "whit_task_irq_max_seconds", "The longest interrupt."),
    row(Figure::VOLUNTARY_SWITCHES, "voluntary_switches", "whit_task_voluntary_switches_total", Count, Counter, "2.6.23", EVERY,
        "Times that the task gave up the CPU."),
    row(Figure::INVOLUNTARY_SWITCHES, "involuntary_switches", "whit_task_involuntary_switches_total", Count, Counter, "2.6.23", EVERY,
        "Times that the CPU was taken from the task."),
    row(Figure::MINOR_FAULTS, "minor_faults", "whit_task_minor_faults_total", Count, Counter, "2.4", EVERY,
        "Page faults that needed no disk."),
    row(Figure::MAJOR_FAULTS, "major_faults", "whit_task_major_faults_total", Count, Counter, "2.4", EVERY,
        "Page faults that waited for a disk."),
    row(Figure::READ_BYTES, "read_bytes", "whit_task_read_bytes_total", Bytes, Counter, "2.6.20", LINUX,
        "Read from block devices; from /proc only the user's own."),
    row(Figure::WRITTEN_BYTES, "written_bytes", "whit_task_written_bytes_total", Bytes, Counter, "2.6.20", LINUX,
        "Written to block devices, or left to be written; from /proc only the user's own."),
    row(Figure::RESIDENT_BYTES, "resident_bytes", "whit_task_resident_bytes", Bytes, Gauge, "2.4", EVERY,
        "Memory of the process, shared pages included."),
    row(Figure::VIRTUAL_BYTES, "virtual_bytes", "whit_task_virtual_bytes", Bytes, Gauge, "2.4", EVERY,
        "Address space of the process."),
    row(Figure::CPU_TICKS, "cpu_ticks_ns", "whit_task_cpu_ticks_seconds_total", Nanoseconds, Counter, "2.6.18", TICKS,
        "CPU time, counted in ticks: \"real total\" in getdelays."),
    row(Figure::PEAK_RESIDENT_BYTES, "peak_resident_bytes", "whit_task_peak_resident_bytes", Bytes, Gauge, "2.6.19", RECORDS_AND_SYSCTL,
        "The most memory that the process ever had."),
    row(Figure::PEAK_VIRTUAL_BYTES, "peak_virtual_bytes", "whit_task_peak_virtual_bytes", Bytes, Gauge, "2.6.19", RECORDS,
        "The most address space that the process ever had."),
];

/// The series of what threads wait for, and what it is: the reason is a label.
pub const TASK_WAITING: (&str, &str) = (
    "whit_task_waiting",
    "1 for each thread that sleeps, by the reason for which it does; as the iterator of BPF reads it.",
);

/// The row of a figure.
pub fn task_metric(figure: Figure) -> &'static TaskMetric {
    &TASK_METRICS[figure.index()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_its_row() {
        for (figure, metric) in Figure::all().zip(&TASK_METRICS) {
            assert_eq!(figure, metric.figure);
            assert_eq!(metric.kind == Counter, figure.is_counter(), "{}", metric.exported);
            let of_cause = figure.cause().map(|cause| format!("whit_task_{}_", cause.name()));
            let start = of_cause.unwrap_or_else(|| "whit_task_".to_owned());
            assert!(metric.exported.starts_with(&start), "{}", metric.exported);
        }
    }

    #[test]
    fn names_follow_the_conventions() {
        for (index, metric) in TASK_METRICS.iter().enumerate() {
            let TaskMetric { field, exported, unit, kind, help, .. } = metric;
            assert!(TASK_METRICS[..index].iter().all(|other| other.exported != *exported), "{exported}");
            let base = match unit {
                Nanoseconds => "_seconds",
                Bytes => "_bytes",
                _ => "",
            };
            let total = if *kind == Counter { "_total" } else { "" };
            assert!(exported.ends_with(&format!("{base}{total}")), "{exported}");
            if let Some(suffix) = unit.suffix() {
                assert!(field.ends_with(&format!("_{suffix}")), "{field} is in {suffix}");
            }
            assert!(help.ends_with('.'), "{exported}");
        }
    }
}
