//! The validated options of `whit top`.

use std::path::PathBuf;
use std::time::Duration;

use facts::task::groups::GroupBy;
use probe::Roots;
use probe::tasks::TaskSource;

use super::columns::Column;
use command::failure::Failure;
use command::past;

/// The options.
#[derive(Clone, Debug)]
pub(crate) struct TopOptions {
    pub(crate) roots: Roots,
    /// None: the best that is permitted.
    pub(crate) source: Option<TaskSource>,
    /// The instant from which on recorded data is shown, in nanoseconds since 1970.
    pub(crate) at_ns: Option<i64>,
    /// Where the history is; `None`: this user's place.
    pub(crate) data: Option<PathBuf>,
    /// No agent is asked.
    pub(crate) is_direct: bool,
    /// None: as the settings say.
    pub(crate) interval: Option<Duration>,
    /// None: until ended.
    pub(crate) count: Option<u64>,
    pub(crate) output: OutputKind,
    pub(crate) selection: Selection,
    pub(crate) by: Option<GroupBy>,
    pub(crate) sort: Option<Column>,
    pub(crate) is_reversed: bool,
    pub(crate) is_tree: bool,
    pub(crate) columns: Option<Vec<Column>>,
    pub(crate) with_commands: bool,
    pub(crate) with_kernel_threads: bool,
}

impl TopOptions {
    /// Where the history is.
    ///
    /// # Errors
    /// If there is no place for one.
    pub(crate) fn data_directory(&self) -> Result<PathBuf, Failure> {
        past::directory(self.data.as_deref())
    }
}

/// For whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Screen,
    Text,
    Json,
}

/// Which tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Empty: all.
    pub(crate) pids: Vec<u32>,
    pub(crate) tids: Vec<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) comm: Option<String>,
    /// A path within its hierarchy, with what is below it.
    pub(crate) cgroup: Option<String>,
}
