//! What reading tasks gives, whichever way they are read.

use facts::sample::Absence;
use facts::task::{Delays, Task};

/// A task's state, as /proc/PID/stat prints it: `R`, `S`, `D`, `T`, `Z` …
pub type TaskState = u8;

/// How tasks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Over netlink, in batches: all eight causes.
    Taskstats {
        /// The struct's version.
        version: u16,
        /// Its bytes.
        length: usize,
    },
    /// From `struct kinfo_proc`: FreeBSD counts no delays.
    Sysctl,
    /// From /proc/PID/{stat,schedstat,status}: run queue, and block I/O in ticks.
    Procfs {
        /// Why not over netlink.
        reason: Absence,
    },
}

/// A process: its living threads summed, and what its ended ones left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// Living threads.
    pub living: Task,
    /// Delays of threads that ended; none where none did, or the method does not say.
    pub ended: Option<Delays>,
}
