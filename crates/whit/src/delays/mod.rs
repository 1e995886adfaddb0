//! `whit delays`: whose delays, over what time, and what must be said about them.

pub(crate) mod interval;
pub(crate) mod printer;
pub(crate) mod run;
pub(crate) mod selection;

use facts::linux::taskstats::ExitInfo;
use facts::sample::Absence;
use facts::task::{Accounting, Task};
use facts::unit::Nanos;
use probe::cgroup_usage::CgroupUsage;
use probe::tasks::{EndedThreads, Method, TaskReader};

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Process,
    Thread,
    /// All tasks of a cgroup.
    Cgroup,
    /// A task that ended.
    Ended(ExitInfo),
}

/// How many of a cgroup's tasks are in which state; none where the kernel does not say.
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
    pub(crate) task: Task,
    /// What a process's ended threads left.
    pub(crate) ended: Option<Box<EndedThreads>>,
    /// What is told of a cgroup beside its tasks' delays.
    pub(crate) cgroup: Option<Box<CgroupFacts>>,
}

/// A cgroup beside its tasks' delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CgroupFacts {
    pub(crate) states: States,
    pub(crate) usage: CgroupUsage,
}

impl Row {
    pub(crate) fn new(kind: Kind, task: Task) -> Self {
        Self { kind, task, ended: None, cgroup: None }
    }
}

impl AsMut<Task> for Row {
    fn as_mut(&mut self) -> &mut Task {
        &mut self.task
    }
}

/// What holds for a whole table and is said once below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// A row is not counted because accounting is off.
    pub(crate) is_off: bool,
    /// A row may be older than the switch.
    pub(crate) is_unsure: bool,
    /// The kernel has `kernel.task_delayacct`.
    pub(crate) has_switch: bool,
    /// Values left out because they cannot be.
    pub(crate) impossible_values: u32,
    /// The system counts none.
    pub(crate) has_no_delays: bool,
    /// Only /proc was read, and why.
    pub(crate) procfs_reason: Option<Absence>,
    /// Exit records that were lost.
    pub(crate) lost_records: u64,
}

/// One of several tables: when it was read, since 1970, and over how long it tells differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) realtime: Nanos,
    pub(crate) elapsed: Nanos,
}

impl Notes {
    /// From the rows, and the way they were read.
    pub(crate) fn new(rows: &[Row], reader: &TaskReader) -> Self {
        let mut notes = Self {
            has_switch: reader.accounting_on().is_some(),
            procfs_reason: match reader.method() {
                Method::Procfs { reason } => Some(reason),
                Method::Taskstats { .. } | Method::Sysctl => None,
            },
            has_no_delays: reader.method() == Method::Sysctl,
            ..Self::default()
        };
        rows.iter().for_each(|row| notes.add(row));
        notes
    }

    /// What a row adds to them.
    pub(crate) fn add(&mut self, row: &Row) {
        self.is_off |= row.task.accounting == Accounting::Off;
        self.is_unsure |= row.task.accounting == Accounting::Unsure;
        self.impossible_values += row.task.impossible_values;
    }
}
