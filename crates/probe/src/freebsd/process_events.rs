//! Forks and exits: FreeBSD reports them by other means, which whit does not use.

use facts::linux::proc_connector::ProcessEvent;
use facts::sample::Absence;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

/// Never open.
pub struct ProcessEvents {
    never: OwnedFd,
    /// Times that events were lost.
    pub gaps: u64,
}

impl ProcessEvents {
    /// Subscribes to nothing.
    ///
    /// # Errors
    /// Always.
    pub fn open() -> Result<Self, Absence> {
        Err(Absence::Unsupported)
    }

    /// Hands over nothing.
    ///
    /// # Errors
    /// Always.
    pub fn receive(&mut self, _each: impl FnMut(ProcessEvent)) -> Result<(), Absence> {
        Err(Absence::Unsupported)
    }
}

impl AsFd for ProcessEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.never.as_fd()
    }
}
