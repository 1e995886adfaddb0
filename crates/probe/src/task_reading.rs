//! What reading tasks gives, whichever way they are read.

use facts::name::Name;
use facts::rate::tasks::ended_threads_cpu;
use facts::sample::Absence;
use facts::task::{Delays, Task, TaskKey};
use facts::unit::Nanos;

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
    /// Of threads that ended; none where none did, or the method does not say.
    pub ended: Option<EndedThreads>,
}

/// What the ended threads of a process left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EndedThreads {
    /// How long they were on a CPU, as far as it is beyond what the clocks may disagree by.
    pub on_cpu: Option<Nanos>,
    /// What they waited for.
    pub delays: Delays,
}

impl EndedThreads {
    /// From the time of a process with all that ever were in it, and that of its living threads. Each of these may lag by a tick.
    pub fn on_cpu_beside(whole: Option<Nanos>, living: Option<Nanos>, threads: u32) -> Option<Nanos> {
        let (whole, living) = whole.zip(living)?;
        ended_threads_cpu(whole, living, threads)
    }
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

/// A process that descends from this one.
#[derive(Clone, Copy, Debug)]
pub struct Descendant {
    /// What tells it from others.
    pub key: TaskKey,
    /// Its main thread's name.
    pub comm: Name,
    /// All its threads have ended; it waits to be reaped.
    pub is_dead: bool,
}
