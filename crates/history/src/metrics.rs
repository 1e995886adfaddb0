//! Names and kinds of series that one part of the program makes and others ask for.

use facts::catalog::{Kind, agent_metric};
use facts::container::{ContainerIdentity, ContainerNames};
use formats::series_name::{SeriesName, metric_of};
use store::SeriesKind;

/// Alerts, as Prometheus names them.
pub const ALERTS: &str = "ALERTS";

/// The times of all tasks together.
pub const TASK_TOTALS: &str = "whit_tasks_seconds_total";

/// How long tasks of low priority waited for a CPU: those that give way to others.
pub const LOW_PRIORITY_TOTALS: &str = "whit_low_priority_run_queue_seconds_total";

/// How many tasks sleep and cannot be interrupted.
pub const UNINTERRUPTIBLE: &str = "whit_uninterruptible_tasks";

/// What containers are called, in the labels.
pub const CONTAINERS: &str = "whit_container_info";

/// Metrics that only users with access to all tasks may see: labels of alerts can be names of tasks, totals contain the tasks of all users,
/// and containers and their images may be of others.
pub const RESTRICTED: [&str; 4] = [ALERTS, TASK_TOTALS, LOW_PRIORITY_TOTALS, CONTAINERS];

/// Takes the name of a container, if a series says one.
pub fn name_container(series: &SeriesName, names: &mut ContainerNames) {
    if series.metric() == CONTAINERS {
        let [name, pod, namespace] =
            ["container", "pod", "namespace"].map(|label| series.get(label).to_owned());
        names.insert(series.get("id"), ContainerIdentity { name, pod, namespace });
    }
}

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
