//! Names and kinds of series that one part of the program makes and others ask for.

use facts::catalog::{Kind, agent_metric};
use formats::series_name::metric_of;
use store::SeriesKind;

/// Alerts, as Prometheus names them.
pub const ALERTS: &str = "ALERTS";

/// The times of all tasks together.
pub const TASK_TOTALS: &str = "whit_tasks_seconds_total";

/// How long tasks of low priority waited for a CPU: those that give way to others.
pub const LOW_PRIORITY_TOTALS: &str = "whit_low_priority_run_queue_seconds_total";

/// How many tasks sleep and cannot be interrupted.
pub const UNINTERRUPTIBLE: &str = "whit_uninterruptible_tasks";

/// Metrics that only users with access to all tasks may see: labels of alerts can be names of tasks, and totals contain the tasks of all users.
pub const RESTRICTED: [&str; 3] = [ALERTS, TASK_TOTALS, LOW_PRIORITY_TOTALS];

/// Returns how a series of this kind is stored.
pub fn series_kind(kind: Kind) -> SeriesKind {
    match kind {
        Kind::Gauge => SeriesKind::Gauge,
        Kind::Counter => SeriesKind::Counter,
    }
}

/// Returns the kind of a series that the agent makes itself, by the catalogue.
pub fn agent_series_kind(name: &str) -> SeriesKind {
    agent_metric(metric_of(name)).map_or(SeriesKind::Gauge, |metric| series_kind(metric.kind))
}
