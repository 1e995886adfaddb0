//! Exit records: FreeBSD has none.

use facts::linux::taskstats::TaskStats;
use facts::sample::Absence;
use rustix::fd::{AsFd, BorrowedFd};

/// Never there.
#[derive(Debug)]
pub enum ExitRecords {}

impl ExitRecords {
    /// Says that there are none.
    ///
    /// # Errors
    /// Always.
    pub fn open(_accounting_on: Option<bool>) -> Result<Self, Absence> {
        Err(Absence::Unsupported)
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub fn receive(&mut self, _each: impl FnMut(TaskStats)) -> Result<(), Absence> {
        match *self {}
    }

    /// Never called.
    pub fn lost(&self) -> u64 {
        match *self {}
    }
}

impl AsFd for ExitRecords {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match *self {}
    }
}
