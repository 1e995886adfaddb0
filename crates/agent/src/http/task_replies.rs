//! Answers to the page about tasks. `web/src/replies.ts` has the same types, as [`super::replies`] says.

use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// The tasks that did something in the last interval.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct ActiveTasks {
    /// In milliseconds since 1970.
    pub(super) at_ms: i64,
    pub(super) rows: Vec<TaskEntry>,
    /// Those that there are no more.
    pub(super) gone: Vec<u32>,
}

/// What tasks did in the interval before an instant.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Tasks {
    /// When they were read, in milliseconds since 1970.
    pub(super) at_ms: i64,
    pub(super) rows: Vec<TaskEntry>,
}

/// A process or a thread. Times are seconds in each second; what is not known is `null`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct TaskEntry {
    pub(super) name: String,
    /// `null` if the row is several processes, which have ended.
    pub(super) pid: Option<u32>,
    /// In milliseconds since 1970; `null` where `pid` is.
    pub(super) started_ms: Option<i64>,
    pub(super) user: String,
    /// Its path.
    pub(super) cgroup: String,
    /// What people call it: a unit, a container.
    pub(super) cgroup_name: String,
    pub(super) threads: u32,
    pub(super) is_ended: bool,
    pub(super) on_cpu: Option<f32>,
    pub(super) run_queue: Option<f32>,
    pub(super) block_io: Option<f32>,
    /// The reason for which most of its threads sleep; `null` if none does or none is known.
    pub(super) waits_for: Option<&'static str>,
    pub(super) resident_bytes: Option<u64>,
    /// A second.
    pub(super) read_bytes: Option<f32>,
    /// A second.
    pub(super) written_bytes: Option<f32>,
}

/// A process, as it was at a time or, if it had ended, at its end. What is not known is `null`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct ProcessDetail {
    pub(super) name: String,
    pub(super) user: String,
    pub(super) cgroup: String,
    pub(super) cgroup_name: String,
    pub(super) command_line: Option<String>,
    /// In milliseconds since 1970.
    pub(super) started_ms: i64,
    /// The same; `null` if it was running.
    pub(super) ended_ms: Option<i64>,
    pub(super) status: Option<u32>,
    pub(super) signal: Option<u32>,
    /// Its parent, the parent of that one, and so on.
    pub(super) ancestors: Vec<RelativeEntry>,
    pub(super) children_count: u32,
    /// The first of them.
    pub(super) children: Vec<RelativeEntry>,
    pub(super) threads_count: u32,
    /// The first of them.
    pub(super) threads: Vec<ThreadEntry>,
    /// How many of its threads sleep for which reason, the most first.
    pub(super) waits: Vec<WaitCount>,
}

/// A process that is an ancestor or a child.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct RelativeEntry {
    pub(super) pid: u32,
    pub(super) name: String,
    /// In milliseconds since 1970.
    pub(super) started_ms: i64,
}

/// A thread of a process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct ThreadEntry {
    pub(super) tid: u32,
    pub(super) name: String,
    /// `null` if it does not sleep, or the reason is not known.
    pub(super) waits_for: Option<&'static str>,
}

/// Threads that sleep for one reason.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct WaitCount {
    pub(super) reason: &'static str,
    pub(super) threads: u32,
}

/// Tasks that ended.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Exits {
    /// How many.
    pub(super) count: u32,
    /// The last of them, the newest first.
    pub(super) rows: Vec<ExitEntry>,
}

/// A task that ended, and what it did in its life. What is not known is `null`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct ExitEntry {
    pub(super) name: String,
    pub(super) pid: u32,
    pub(super) user: String,
    /// Whether it was not the main thread of its process.
    pub(super) is_thread: bool,
    /// In milliseconds since 1970.
    pub(super) started_ms: i64,
    /// The same.
    pub(super) ended_ms: i64,
    /// `null` if a signal ended it.
    pub(super) status: Option<u32>,
    pub(super) signal: Option<u32>,
    pub(super) on_cpu_s: Option<f32>,
    pub(super) run_queue_s: Option<f32>,
    pub(super) block_io_s: Option<f32>,
}
