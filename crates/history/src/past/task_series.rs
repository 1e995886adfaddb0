//! The metrics of tasks.

use facts::catalog::{Kind, TASK_METRICS, TASK_WAITING, TaskMetric, Unit};
use facts::task::TaskRow;
use facts::task::figure::Figure;
use facts::unit::Nanos;

use super::labelling::{LABELS, LABELS_OF_WAITING};

/// A metric of tasks.
#[derive(Clone, Copy, Debug)]
pub(super) enum TaskSeries {
    /// A figure.
    Figure(&'static TaskMetric),
    /// 1 for each thread that sleeps, by its reason.
    Waiting,
}

impl TaskSeries {
    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        TASK_METRICS.iter().map(Self::Figure).chain([Self::Waiting])
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Figure(metric) => metric.exported,
            Self::Waiting => TASK_WAITING.0,
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Figure(metric) => metric.kind,
            Self::Waiting => Kind::Gauge,
        }
    }

    pub(super) fn help(self) -> &'static str {
        match self {
            Self::Figure(metric) => metric.help,
            Self::Waiting => TASK_WAITING.1,
        }
    }

    /// The labels that its series have.
    pub(super) fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Figure(_) => &LABELS,
            Self::Waiting => &LABELS_OF_WAITING,
        }
    }

    /// The figure of a task that it is; `None` if it is none.
    pub(super) fn figure(self) -> Option<Figure> {
        match self {
            Self::Figure(metric) => Some(metric.figure),
            Self::Waiting => None,
        }
    }

    /// Its value for a task, or `None` if that is unknown, counted for the main thread of its process, or the task does not sleep.
    pub(super) fn of_row(self, row: &TaskRow) -> Option<u64> {
        let is_main = row.tgid.is_none_or(|tgid| tgid == row.key.pid);
        match self {
            Self::Figure(TaskMetric { figure, .. }) => {
                row.figures.get(*figure).filter(|_| is_main || !figure.is_of_process())
            }
            Self::Waiting => row.wait.map(|_| 1),
        }
    }

    /// Returns a value in the unit of its series.
    pub(super) fn in_unit(self, value: u64) -> f64 {
        match self {
            Self::Figure(TaskMetric { unit: Unit::Nanoseconds, .. }) => value as f64 / Nanos::SECOND.0 as f64,
            _ => value as f64,
        }
    }
}
