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
    /// The resources that it used.
    pub usage: Usage,
}

/// The resources that a child used, and the children that it waited for: getrusage(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// In user mode.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
    /// The most memory that one of them had.
    pub peak_resident: Bytes,
    /// Page faults that no disk was needed for.
    pub minor_faults: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// Times they gave up the CPU.
    pub voluntary_switches: u64,
    /// Times they were made to.
    pub involuntary_switches: u64,
}

impl Usage {
    fn of_system(usage: &libc::rusage) -> Self {
        let nanos = |time: libc::timeval| {
            let (seconds, micros) = (time.tv_sec.max(0) as u64, time.tv_usec.max(0) as u64);
            Nanos(seconds.saturating_mul(Nanos::SECOND.0).saturating_add(micros * 1000))
        };
        let count = |number: libc::c_long| number.max(0) as u64;
        Self {
            user: nanos(usage.ru_utime),
            system: nanos(usage.ru_stime),
            peak_resident: Bytes::from_kib(count(usage.ru_maxrss)),
            minor_faults: count(usage.ru_minflt),
            major_faults: count(usage.ru_majflt),
            voluntary_switches: count(usage.ru_nvcsw),
            involuntary_switches: count(usage.ru_nivcsw),
        }
    }

    /// Adds another child's.
    pub fn add(&mut self, other: &Self) {
        self.user += other.user;
        self.system += other.system;
        self.peak_resident = self.peak_resident.max(other.peak_resident);
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
    }

    /// Time on a CPU.
    pub fn cpu(self) -> Nanos {
        self.user + self.system
    }
}

/// Returns the resources that this process itself has used: getrusage(2).
pub fn own_usage() -> Usage {
    Usage::of_system(&sys::own_usage())
}

/// The id of a child that has ended and was not reaped, whichever it is; `None` if there is none.
pub fn next_ended() -> Option<u32> {
    sys::next_ended().and_then(|pid| u32::try_from(pid).ok())
}

/// Reaps a child that has ended, whichever it is; `None` if none has.
pub fn reap_any() -> Option<Reaped> {
    of_system(sys::reap_any()?)
}

/// Reaps this child if it has ended.
pub fn reap_ended(pid: i32) -> Option<Reaped> {
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
        usage: Usage::of_system(&reaped.usage),
    })
}

fn ending_of_status(status: i32) -> Ending {
    if libc::WIFSIGNALED(status) {
        Ending::Signaled(libc::WTERMSIG(status))
    } else {
        Ending::Exited(libc::WEXITSTATUS(status))
    }
}
