//! Children that ended: how, and what they used.

use facts::unit::{Bytes, Nanos};

use crate::sys;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// Its status was collected elsewhere.
    Unknown,
}

/// A child that ended: wait4(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaped {
    /// Its process id.
    pub pid: u32,
    /// How it ended.
    pub ending: Ending,
    /// What it used.
    pub usage: Usage,
}

/// What a child used, and the children that it waited for: getrusage(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// In user mode.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
    /// The most memory that one of them had.
    pub peak_resident: Bytes,
}

impl Usage {
    /// Time on a CPU.
    pub fn cpu(self) -> Nanos {
        self.user + self.system
    }
}

/// Reaps a child that has ended, whichever it is; `None` if none has.
pub fn reap_any() -> Option<Reaped> {
    of_system(sys::reap_any()?)
}

/// Reaps this child if it has ended.
pub(crate) fn reap_ended(pid: i32) -> Option<Reaped> {
    of_system(sys::reap_ended(pid)?)
}

/// Waits for a child to end, and reaps it; `None` if it is not a child.
pub fn reap(pid: u32) -> Option<Reaped> {
    of_system(sys::reap(i32::try_from(pid).ok()?)?)
}

fn of_system(reaped: sys::Reaped) -> Option<Reaped> {
    Some(Reaped {
        pid: u32::try_from(reaped.pid).ok()?,
        ending: ending_of_status(reaped.status),
        usage: Usage {
            user: reaped.user,
            system: reaped.system,
            peak_resident: Bytes::from_kib(reaped.peak_resident_kib),
        },
    })
}

fn ending_of_status(status: i32) -> Ending {
    if libc::WIFSIGNALED(status) {
        Ending::Signaled(libc::WTERMSIG(status))
    } else {
        Ending::Exited(libc::WEXITSTATUS(status))
    }
}
