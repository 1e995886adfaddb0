//! What a process waits for at this moment, and its open files: what no tick has, and what the server may not read itself.
//!
//! Before the server drops its privileges it starts a process that keeps those for looking at others ([`inspector`]). That one starts a
//! process for each question ([`inspect()`]), which becomes the user who asks: the kernel decides what they see. /proc can hang where it
//! holds a process's memory: what hangs is killed and left behind.

mod client;
mod inspect;
mod inspector;

use std::time::Duration;

use probe::privilege::Kept;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

pub(crate) use client::{Inspected, Inspector};
pub use inspect::inspect;
pub use inspector::run;

/// The longest that an inspection may take: twenty times what 3,500 threads take.
const LONGEST: Duration = Duration::from_secs(2);
/// The most bytes of an inspection.
const MAX_BYTES: usize = 256 * 1024;
/// The privileges to look at all processes.
const LOOKING: [Kept; 2] = [Kept::OthersProcesses, Kept::OthersFiles];

/// A question of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Question {
    /// That of its answer.
    id: u64,
    pid: u32,
    /// The user who sees the answer; `None`: one who may see all processes.
    uid: Option<u32>,
}

/// The head of an answer. Its body is an [`Outcome`] as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    /// That of the question.
    id: u64,
    /// CPU time that it took.
    cpu_ns: u64,
}

/// What became of a question.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS), ts(rename_all = "snake_case"))]
pub(crate) enum Outcome {
    /// The process was looked at.
    Found(Inspection),
    /// The process does not exist, or /proc hides it from the user: hidepid, proc(5).
    Gone,
    /// The agent has no privileges to look at processes as the user who asks.
    Refused,
    /// The kernel does not let it be looked at: it holds the process's memory.
    Hangs,
    /// Too many that were asked for hang.
    Busy,
    /// It could not be looked at, for a reason that is in the log.
    Failed,
}

impl Outcome {
    /// As JSON.
    fn json(&self) -> Vec<u8> {
        // Numbers, strings and lists serialize without errors.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A process at one instant. What may not be read is `null` or empty.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Inspection {
    /// What its threads wait for: each stands before those that it waits for.
    links: Vec<LinkEntry>,
    open_files: Option<OpenFiles>,
}

/// Threads of a process that do the same, in words.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct LinkEntry {
    /// How many links are above it.
    depth: usize,
    pid: u32,
    /// What stands before the name.
    before: &'static str,
    name: String,
    /// What it does.
    after: String,
}

/// The open files of a process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct OpenFiles {
    count: usize,
    /// The most that it may have.
    most: Option<u64>,
    /// The most frequent kind first; empty if there are too many to be looked at.
    kinds: Vec<FileCount>,
}

/// Open files of one kind.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct FileCount {
    kind: &'static str,
    count: usize,
}
