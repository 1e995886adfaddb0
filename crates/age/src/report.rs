//! The results for one directory, before they are rendered.

use facts::age::{AgeBy, AgeSums};
use facts::unit::{Bytes, Nanos};

use super::extremes::Extremes;
use super::options::DeleteMode;

/// The results of one directory, to be shown as text or JSON.
#[derive(Clone, Debug)]
pub(crate) struct DirectoryReport {
    pub(crate) path: String,
    pub(crate) older: Option<Nanos>,
    pub(crate) newer: Option<Nanos>,
    pub(crate) larger: Option<Bytes>,
    pub(crate) by: AgeBy,
    pub(crate) what: Outcome,
}

/// The outcome of one directory.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// All, and by directory where that was asked for.
    Sums {
        all: Box<AgeSums>,
        extremes: Box<Extremes>,
        by_directory: Vec<(String, AgeSums)>,
    },
    Count(u64),
    /// By a deletion of this way.
    Deleted(DeleteMode, Box<DeletionCounts>),
}

/// The cost of the whole scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanCost {
    pub(crate) calls: u64,
    pub(crate) entries: u64,
    pub(crate) directories: u64,
    pub(crate) left_alone: u64,
    pub(crate) failures: u64,
    pub(crate) threads: usize,
}

/// The counts of what was deleted and what was kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeletionCounts {
    pub(crate) deleted: AgeSums,
    pub(crate) kept: AgeSums,
    /// Old files that are marked by the sticky bit.
    pub(crate) sticky: u64,
    /// Old files that a process holds a lock on.
    pub(crate) locked: u64,
    /// Directories that another program has locked (flock): nothing in them is looked at.
    pub(crate) locked_directories: u64,
    /// Exchanged, or written to, between two looks: put back.
    pub(crate) put_back: u64,
    /// Old files that could not be deleted; each failure was reported.
    pub(crate) failed: u64,
    /// Moved back from what runs left that were killed.
    pub(crate) restored: u64,
    /// Directories that look like a killed run's and have no proof of it.
    pub(crate) unproven: u64,
    pub(crate) directories: u64,
}
