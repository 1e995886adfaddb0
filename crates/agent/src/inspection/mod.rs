//! What a process waits for at this moment, and its open files: what no tick has, and what the server may not read itself.
//!
//! Before the server drops its privileges it starts a process that keeps those for reading others' /proc ([`inspector`]). That one starts a
//! process for each question ([`inspect()`]): what hangs there, because the kernel holds a process's memory, is killed and left behind.

mod client;
mod inspect;
mod inspector;

use std::time::Duration;

use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

pub(crate) use client::{Inspected, Inspector};
pub use inspect::inspect;
pub use inspector::run;

/// The longest that an inspection may take. One of five thousand threads takes a third of a second.
const LONGEST: Duration = Duration::from_secs(2);
/// The most bytes of an inspection.
const MOST_BYTES: usize = 256 * 1024;

/// A question of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Question {
    pid: u32,
    /// The user whose processes are shown; `None`: all.
    uid: Option<u32>,
}

/// The head of an answer. Its body is an [`Inspection`] as JSON; empty: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    /// CPU time that it took.
    cpu_ns: u64,
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
