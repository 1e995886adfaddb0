//! The validated options of `whit age`.

use std::path::PathBuf;

use facts::age::Cap;
use facts::unit::{Bytes, Nanos, Ratio};
use probe::directory::Mounts;

use super::selection::Selection;

/// The options of the command line.
#[derive(Clone, Debug)]
pub(crate) struct AgeOptions {
    pub(crate) directories: Vec<PathBuf>,
    /// Configurations of tmpfiles.d(5), in place of directories; an empty list stands for all of the system's.
    pub(crate) tmpfiles: Option<Vec<PathBuf>>,
    pub(crate) selection: Selection,
    pub(crate) is_recursive: bool,
    pub(crate) mounts: Mounts,
    pub(crate) view: View,
    pub(crate) is_json: bool,
    /// The cost of the work is shown at the end.
    pub(crate) with_stats: bool,
    /// None: as many as there are CPUs.
    pub(crate) threads: Option<usize>,
}

/// The task for the files that are found: report, list, count, check or delete them.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// Sums and a histogram.
    Report { by_directory: bool },
    /// Each of them, as they are found or in an order, then at most so many.
    List { form: ListForm, order: Option<FileOrder>, most: Option<usize> },
    /// Their number, for which nothing is asked of them.
    Count,
    /// A Nagios plugin's line and exit status.
    Verdict { warn: Vec<Threshold>, crit: Vec<Threshold> },
    /// They go.
    Delete(Deletion),
}

/// How an entry is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListForm {
    /// Its path, with this behind it.
    Paths { end: u8 },
    /// Its age, its size and its path.
    Long,
    /// A document.
    Json,
}

/// In which order they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOrder {
    /// The oldest first.
    Age,
    /// The largest first.
    Size,
    Path,
}

/// Space that a filesystem is to have left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FreeSpace {
    Size(Bytes),
    /// A share of the filesystem.
    Share(Ratio),
}

/// The options of a deletion: what is deleted beside old files, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deletion {
    pub(crate) way: DeleteMode,
    pub(crate) with_empty_directories: bool,
    pub(crate) cap: Cap,
    /// So much is to be available on the filesystem.
    pub(crate) keep_free: Option<FreeSpace>,
    /// At most so many a second.
    pub(crate) pace: Option<f64>,
    /// Nothing younger goes.
    pub(crate) keep_newer: Option<Nanos>,
    /// How the paths of what goes are printed; `None`: they are not.
    pub(crate) listed: Option<ListForm>,
    /// Without a report.
    pub(crate) is_quiet: bool,
}

/// How an entry is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeleteMode {
    /// Looked at once more where no other user can exchange it.
    Strict,
    /// Unlinked by its name.
    Plain,
    /// Only reported.
    DryRun,
}

/// The quantity that a threshold is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The age of the oldest file, in nanoseconds.
    Age,
    Files,
    Bytes,
    /// The age of the newest file; without any file the threshold is exceeded.
    Newest,
    /// Fewer files than the limit.
    FewerFiles,
}

/// Above this it is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Threshold {
    pub(crate) measure: Measure,
    pub(crate) limit: u64,
}
