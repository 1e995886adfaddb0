//! The account of a thread, a process or a cgroup since it started: its identity, and the sum of its figures.

use super::comm::Comm;
use super::row::TaskRow;
use super::sum::TaskSum;
use super::{Accounting, TaskKey};
use crate::unit::Nanos;

/// Threads that are reported together, with the identity of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskAccount {
    /// Which: of a process its main thread.
    pub key: TaskKey,
    /// Its process. Since taskstats version 12.
    pub tgid: Option<u32>,
    /// The parent process.
    pub ppid: Option<u32>,
    /// Real user id.
    pub uid: Option<u32>,
    /// The name it gave itself.
    pub comm: Comm,
    /// -20 to 19.
    pub nice: i8,
    /// How long the first has lived, or the interval.
    pub wall: Nanos,
    /// The delay accounting of the first.
    pub accounting: Accounting,
    /// The figures of all threads.
    pub sum: TaskSum,
}

impl TaskAccount {
    /// A thread since it started, by itself.
    pub fn of_thread(row: &TaskRow) -> Self {
        Self::new(row, row.wall, row.sum_since_start(row.accounting == Accounting::On))
    }

    /// The thread that stands for all, and what all did.
    pub fn new(first: &TaskRow, wall: Nanos, sum: TaskSum) -> Self {
        Self {
            key: first.key,
            tgid: first.tgid,
            ppid: first.ppid,
            uid: first.uid,
            comm: first.comm,
            nice: first.nice,
            wall,
            accounting: first.accounting,
            sum,
        }
    }

    /// Threads of one process since they started, the main thread first; `None` if there is none.
    pub fn of_threads<'a>(rows: impl IntoIterator<Item = &'a TaskRow>) -> Option<Self> {
        let mut rows = rows.into_iter();
        let mut account = Self::of_thread(rows.next()?);
        rows.for_each(|row| account.add_thread(row));
        Some(account)
    }

    /// Adds another thread of the process. It is counted if the main thread is: it started later.
    pub fn add_thread(&mut self, row: &TaskRow) {
        self.sum.add(&row.sum_since_start(self.counts(row)));
    }

    /// Returns true if the delays of a thread of the process are counted.
    pub fn counts(&self, row: &TaskRow) -> bool {
        [self.accounting, row.accounting].contains(&Accounting::On)
    }
}

impl AsMut<Self> for TaskAccount {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}
