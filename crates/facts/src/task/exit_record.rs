//! Exit records: the last account of tasks that ended.

use super::figure::Figure;
use super::{TaskAccount, TaskRow};
use crate::linux::taskstats::ExitInfo;
use crate::unit::Nanos;

/// The exit record of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExitRecord {
    /// The account at its end. Its start is the latest that is possible.
    pub row: TaskRow,
    /// How it ended.
    pub exit: ExitInfo,
    /// The times on the boot clock between which it ended: when records were read before, and when this one was read.
    pub between: (Nanos, Nanos),
    /// The kernel's tick: the record of a task that slept may lack so much CPU time.
    pub tick: Nanos,
}

impl ExitRecord {
    /// CPU time of its whole life in nanoseconds.
    pub fn cpu_ns(&self) -> Option<u64> {
        recorded_cpu_ns(|figure| self.row.figures.get(figure))
    }

    /// CPU time of its whole life that its record may lack. A task that never gave up the CPU by itself has not slept: all the time
    /// that is not accounted for may be CPU time.
    pub fn most_unrecorded(&self) -> Nanos {
        let has_slept = self.row.figures.get(Figure::VOLUNTARY_SWITCHES) != Some(0);
        if has_slept { self.tick.min(self.row.wall) } else { self.row.wall }
    }

    /// The account of its whole life. CPU time is that of the precise counter.
    pub fn account(&self) -> TaskAccount {
        let mut account = TaskAccount::of_thread(&self.row);
        account.sum.most_unrecorded = self.most_unrecorded().min(account.sum.unclaimed());
        account
    }

    /// Returns true if the task may have started then. It may have existed during any part of the time that the machine was suspended.
    pub(crate) fn can_have_begun(&self, start: Nanos, suspended: Nanos) -> bool {
        let end = start + self.row.wall;
        end <= self.between.1 + SLACK && self.between.0 <= end + suspended + SLACK
    }

    /// Returns true if the task, if it started then, may have ended after `time`.
    pub(crate) fn can_have_ended_after(&self, start: Nanos, time: Nanos, suspended: Nanos) -> bool {
        start + self.row.wall + suspended + SLACK >= time
    }
}

/// CPU time from an exit record: it is made before the last of it is charged to the precise counter, and the ticks contain more. Over
/// 25,000 execs the sum of the ticks is 0.97 of what wait4(2) reports.
pub(crate) fn recorded_cpu_ns(figure: impl Fn(Figure) -> Option<u64>) -> Option<u64> {
    let in_ticks = figure(Figure::USER).zip(figure(Figure::SYSTEM));
    in_ticks.map(|(user, system)| user + system).or_else(|| figure(Figure::ON_CPU))
}

/// The difference that clocks and the order of two system calls may cause.
pub(crate) const SLACK: Nanos = Nanos(20_000_000);
