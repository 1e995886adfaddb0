//! `whit delays`: whose delays, over what time, and what must be said about them.

pub(crate) mod arguments;
mod asleep;
mod classic;
pub(crate) mod command;
pub(crate) mod interval;
pub(crate) mod json;
mod past;
pub(crate) mod printer;
pub(crate) mod render;
pub(crate) mod run;
pub(crate) mod selection;

use facts::linux::taskstats::ExitInfo;
use facts::name::Name;
use facts::sample::Absence;
use facts::task::{Accounting, Cause, TaskAccount};
use facts::unit::Nanos;
use probe::cgroup_usage::CgroupUsage;
use probe::tasks::{EndedThreads, TaskReader, TaskSource};
use sampling::asleep::Reasons;

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Process,
    Thread,
    /// All tasks of a cgroup.
    Cgroup,
    /// A task that ended.
    Ended(ExitInfo),
}

/// How many of a cgroup's tasks are in which state; `None` if the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct States {
    pub(crate) sleeping: u64,
    pub(crate) running: u64,
    pub(crate) stopped: u64,
    pub(crate) uninterruptible: u64,
    pub(crate) io_wait: Option<u64>,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    pub(crate) task: TaskAccount,
    /// The figures of a process's ended threads.
    pub(crate) ended: Option<Box<EndedThreads>>,
    /// The properties of a cgroup beside its tasks' delays.
    pub(crate) cgroup: Option<Box<CgroupFacts>>,
    /// For what its threads were seen asleep.
    pub(crate) asleep: Reasons,
}

/// A cgroup beside its tasks' delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CgroupFacts {
    /// The last part of its path.
    pub(crate) name: Name,
    pub(crate) states: States,
    pub(crate) usage: CgroupUsage,
}

impl Row {
    pub(crate) fn new(kind: Kind, task: TaskAccount) -> Self {
        Self { kind, task, ended: None, cgroup: None, asleep: Reasons::new() }
    }

    /// Returns true if its swap-in delay is not known: /proc alone was read.
    fn lacks_delays(&self) -> bool {
        self.task.sum.delay(Cause::SwapIn).total().is_none()
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &[u8] {
        match &self.cgroup {
            Some(cgroup) => cgroup.name.as_bytes(),
            None => self.task.comm.as_bytes(),
        }
    }
}

impl AsMut<TaskAccount> for Row {
    fn as_mut(&mut self) -> &mut TaskAccount {
        &mut self.task
    }
}

/// Notes that hold for a whole table and are printed once below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// A row is not counted because accounting is off.
    pub(crate) is_off: bool,
    /// This user may switch it on.
    pub(crate) may_enable: bool,
    /// A row may be older than the switch.
    pub(crate) is_unsure: bool,
    /// The kernel has `kernel.task_delayacct`.
    pub(crate) has_switch: bool,
    /// Values left out because they cannot be.
    pub(crate) impossible_values: u32,
    /// Impossible values since they were last counted in printed notes.
    uncounted_impossible: u32,
    /// The system counts none.
    pub(crate) has_no_delays: bool,
    /// Only /proc was read, and why.
    pub(crate) procfs_reason: Option<Absence>,
    /// Exit records that were lost.
    pub(crate) lost_records: u64,
}

/// One of several tables: when it was read, since 1970, and the interval of its deltas; `None`: these are since the tasks began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) realtime: Nanos,
    pub(crate) elapsed: Option<Nanos>,
}

impl Notes {
    /// From the rows, and the way they were read.
    pub(crate) fn new(rows: &[Row], reader: &TaskReader) -> Self {
        let mut notes = Self {
            may_enable: reader.may_enable_accounting(),
            has_switch: reader.accounting_on().is_some(),
            procfs_reason: match reader.source() {
                // An agent has those of the user's own tasks.
                TaskSource::Procfs if rows.iter().any(Row::lacks_delays) || !reader.has_better_rows() => {
                    reader.taskstats_version().err()
                }
                _ => None,
            },
            has_no_delays: reader.source() == TaskSource::Sysctl,
            ..Self::default()
        };
        rows.iter().for_each(|row| notes.add(row));
        notes
    }

    /// Adds what another table has to say, and returns what is new of it. A count is news again when it has doubled.
    pub(crate) fn add_new(&mut self, other: &Self) -> Self {
        let news = |printed: bool, now: bool| now && !printed;
        let mut fresh = Self {
            is_off: news(self.is_off, other.is_off),
            is_unsure: news(self.is_unsure, other.is_unsure),
            has_no_delays: news(self.has_no_delays, other.has_no_delays),
            procfs_reason: other.procfs_reason.filter(|_| self.procfs_reason.is_none()),
            ..*other
        };
        self.is_off |= other.is_off;
        self.is_unsure |= other.is_unsure;
        self.has_no_delays |= other.has_no_delays;
        self.procfs_reason = self.procfs_reason.or(other.procfs_reason);
        self.uncounted_impossible += other.impossible_values;
        let is_news = self.uncounted_impossible > 0 && self.uncounted_impossible >= self.impossible_values;
        fresh.impossible_values =
            if is_news { self.impossible_values + self.uncounted_impossible } else { 0 };
        if is_news {
            self.impossible_values = fresh.impossible_values;
            self.uncounted_impossible = 0;
        }
        fresh.lost_records = if other.lost_records >= self.lost_records * 2 { other.lost_records } else { 0 };
        self.lost_records = self.lost_records.max(fresh.lost_records);
        fresh
    }

    /// Adds the notes of a row.
    pub(crate) fn add(&mut self, row: &Row) {
        self.is_off |= row.task.accounting == Accounting::Off;
        self.is_unsure |= row.task.accounting == Accounting::Unsure;
        self.impossible_values += row.task.sum.impossible_values;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_not_said_again() {
        let mut printed = Notes::default();
        let round = Notes { is_off: true, impossible_values: 1, ..Notes::default() };
        assert_eq!(printed.add_new(&round), round);
        let later = printed.add_new(&Notes { is_unsure: true, ..round });
        assert_eq!((later.is_off, later.is_unsure, later.impossible_values), (false, true, 2));
        // Three, which is less than twice two, and four.
        assert_eq!([1, 1].map(|_| printed.add_new(&round).impossible_values), [0, 4]);
    }
}
