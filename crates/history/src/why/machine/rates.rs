//! Expressions that several troubles ask.

/// The time in which any task waited for a disk.
pub(super) const IO_PRESSURE: &str = "rate(node_pressure_io_waiting_seconds_total[W])";
/// Tasks of the kernel that write what others have changed.
const FLUSHERS: &str = "comm!~\"kworker/.*|jbd2/.*|loop[0-9]+|kswapd[0-9]+|flush-.*\"";

/// The rate, or increase, of a counter of tasks that are not the kernel's flushers.
pub(super) fn of_programs(function: &str, counter: &str) -> String {
    format!("{function}({counter}{{{FLUSHERS}}}[W])")
}
