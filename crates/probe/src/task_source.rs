//! The results of reading tasks, whatever the source.

use std::fmt;

use facts::name::Name;
use facts::sample::Absence;
pub use facts::task::TaskSource;
use facts::task::figure::FigureSet;
use facts::task::store::ended_threads_cpu;
use facts::task::{Delays, TaskAccount, TaskKey, TaskRow};
use facts::unit::Nanos;

/// A task's state, as /proc/PID/stat prints it: `R`, `S`, `D`, `T`, `Z` …
pub type TaskState = u8;

/// The request of a view for properties of tasks.
#[derive(Clone, Copy, Debug)]
pub struct TaskRequest<'a> {
    /// The sources that may be used, the best first.
    pub sources: &'a [TaskSource],
    /// Figures that are read even if they cost a system call a task: memory and I/O.
    pub extra: FigureSet,
}

/// Rows of tasks from a program that may read more of them than this one, such as the agent. What it has takes the place of what /proc
/// contains.
pub trait BetterRows: Send {
    /// The row of a thread that started then, if it has one.
    fn row(&mut self, key: TaskKey) -> Option<TaskRow>;

    /// Returns true if a process is among those that it has.
    fn contains(&self, pid: u32) -> bool;
}

/// A process: its living threads summed, and what its ended threads left.
#[derive(Clone, Debug)]
pub struct Process {
    /// Living threads.
    pub living: TaskAccount,
    /// Ended threads; `None` if there were none, or if the source does not contain them.
    pub ended: Option<EndedThreads>,
}

/// The figures that the ended threads of a process left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EndedThreads {
    /// CPU time, if it is more than what the clocks may disagree by.
    pub on_cpu: Option<Nanos>,
    /// Delays.
    pub delays: Delays,
}

impl EndedThreads {
    /// From the CPU time of a process with all threads that it ever had, and that of its living threads. Each may lag by a tick.
    pub fn on_cpu_beside(whole: Option<Nanos>, living: Option<Nanos>, threads: u32) -> Option<Nanos> {
        let (whole, living) = whole.zip(living)?;
        ended_threads_cpu(whole, living, threads)
    }
}

/// Why a source cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The kind of reason.
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

/// Why no source can be used.
#[derive(Debug)]
pub enum OpenError {
    /// The root cannot be opened.
    Root(crate::roots::RootError),
    /// The best of the requested sources is refused, and so are the others.
    Refused(TaskSource, Refused),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(error) => error.fmt(f),
            Self::Refused(source, refused) => write!(f, "tasks by {}: {}", source.name(), refused.detail),
        }
    }
}

impl From<crate::roots::RootError> for OpenError {
    fn from(error: crate::roots::RootError) -> Self {
        Self::Root(error)
    }
}

/// A process that descends from this one.
#[derive(Clone, Copy, Debug)]
pub struct Descendant {
    /// Identifies it.
    pub key: TaskKey,
    /// Its main thread's name.
    pub comm: Name,
    /// All its threads have ended; it waits to be reaped.
    pub is_dead: bool,
}
