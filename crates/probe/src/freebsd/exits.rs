//! Exit records: FreeBSD has none.

use facts::sample::Absence;
use facts::task::exit_record::ExitRecord;
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
    pub fn accounting_was_enabled(&mut self) {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub fn receive(&mut self, _each: impl FnMut(ExitRecord)) -> Result<(), Absence> {
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
