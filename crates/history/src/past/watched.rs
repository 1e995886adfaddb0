//! The events that are watched in all rounds of a window, beside the figures of tasks.

use facts::task::rounds::Scope;

use super::round::Round;
use super::stuck::{Stuck, StuckTask};
use crate::task_sums::{Churn, ChurnSummary, SpanGroups};

/// Sleeps of tasks that are shorter, in milliseconds, are left out, unless the window itself is short.
const MIN_STUCK_MS: i64 = 5_000;

/// The events from round to round.
#[derive(Debug, Default)]
pub(super) struct Watched {
    churn: Churn,
    stuck: Stuck,
}

/// The events in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchedSummary {
    /// The processes that ended.
    pub(crate) churn: ChurnSummary,
    /// Tasks in one uninterruptible sleep, the longest first. Of spans that are read as sums only those are known that still sleep when rounds
    /// are read again.
    pub stuck: Vec<StuckTask>,
}

impl Watched {
    /// Adds a round.
    pub(super) fn add(&mut self, at_ms: i64, round: &Round<'_>, scope: Scope) {
        self.churn.add(round.store, scope);
        self.stuck.add(at_ms, round, scope);
    }

    /// Adds the sums of a span, which are of all users' tasks.
    pub(super) fn add_sums(&mut self, groups: &SpanGroups) {
        self.churn.add_sums(&groups.programs, &groups.ancestors);
        self.stuck.skip();
    }

    /// Returns what happened between two times in milliseconds since 1970.
    pub(super) fn summary(&self, [from_ms, to_ms]: [i64; 2]) -> WatchedSummary {
        let least_ms = MIN_STUCK_MS.min((to_ms - from_ms) / 2);
        WatchedSummary { churn: self.churn.summary(), stuck: self.stuck.for_at_least(least_ms) }
    }
}
