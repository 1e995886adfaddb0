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

/// A way to read all tasks into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A BPF task iterator: everything, for the least.
    Bpf,
    /// taskstats in batches: all delays; what only /proc says is read once a task.
    Taskstats,
    /// /proc alone.
    Procfs,
}

impl Way {
    /// All, the best first.
    pub const ALL: [Self; 3] = [Self::Bpf, Self::Taskstats, Self::Procfs];

    /// As the option names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bpf => "bpf",
            Self::Taskstats => "taskstats",
            Self::Procfs => "procfs",
        }
    }
}

/// Why a way is not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What kind of reason.
    pub reason: Absence,
    /// In the kernel's words, as far as it had any.
    pub detail: String,
}

#[cfg(target_os = "linux")]
impl Refused {
    pub(crate) fn new(reason: Absence, detail: String) -> Self {
        Self { reason, detail }
    }
}

impl From<Absence> for Refused {
    fn from(reason: Absence) -> Self {
        Self { reason, detail: reason.to_string() }
    }
}
