//! What `why` asks of the past of a machine.

use facts::container::ContainerNames;
use query::{Answer, Limits, QueryError};

use crate::past::{BatchedSource, WatchedSummary};

/// The past of a machine: its history, or what a store elsewhere has of it.
pub trait MachinePast {
    /// Returns the answer to an expression at an instant in milliseconds since 1970.
    ///
    /// # Errors
    /// If the expression is wrong, its answer exceeds the limits, or what it needs cannot be read.
    fn answer(&self, expression: &str, at_ms: i64, limits: &Limits<'_>) -> Result<Answer, QueryError>;

    /// Returns what is watched beside the figures of tasks, between two times in milliseconds since 1970.
    ///
    /// # Errors
    /// If it cannot be read.
    fn watched(&self, range: [i64; 2], limits: &Limits<'_>) -> Result<WatchedSummary, QueryError>;

    /// Returns whether an error means that one answer is missing, and no more: only the troubles that need this answer are left out.
    fn is_partial(&self, _error: &QueryError) -> bool {
        false
    }

    /// Returns the time of the first sample, in milliseconds since 1970; `None` if there is none.
    fn begins_ms(&self) -> Option<i64>;

    /// Returns whether the tasks of all users are seen.
    fn sees_all(&self) -> bool;

    /// Returns whether it is known which tasks are in which cgroup.
    fn knows_cgroups(&self) -> bool;

    /// The names of containers whose ids cgroups have.
    fn container_names(&self) -> &ContainerNames;
}

impl MachinePast for BatchedSource<'_> {
    fn answer(&self, expression: &str, at_ms: i64, limits: &Limits<'_>) -> Result<Answer, QueryError> {
        self.answer(expression, at_ms, limits)
    }

    fn watched(&self, range: [i64; 2], limits: &Limits<'_>) -> Result<WatchedSummary, QueryError> {
        self.watched(range, limits)
    }

    fn begins_ms(&self) -> Option<i64> {
        let extent = self.past().extent_ns().ok().flatten();
        extent.map(|(first_ns, _)| first_ns / 1_000_000)
    }

    fn sees_all(&self) -> bool {
        self.past().sees_all()
    }

    fn knows_cgroups(&self) -> bool {
        true
    }

    fn container_names(&self) -> &ContainerNames {
        self.past().container_names()
    }
}
