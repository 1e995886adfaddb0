//! The validated options of `whit run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use probe::control::TaskSignal;
use probe::spawn::Limit;

/// The options.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunOptions {
    pub(crate) command: Vec<OsString>,
    /// The account is JSON.
    pub(crate) is_json: bool,
    pub(crate) output: Option<PathBuf>,
    pub(crate) is_quiet: bool,
    pub(crate) repeat: u64,
    pub(crate) lock: Option<LockOptions>,
    pub(crate) timeout: Option<Duration>,
    /// The signal that ends the command when its time is over.
    pub(crate) signal: TaskSignal,
    /// An earlier report to compare with.
    pub(crate) compare: Option<PathBuf>,
    /// From the first signal to the one that cannot be caught.
    pub(crate) kill_after: Duration,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) limits: Vec<(Limit, u64)>,
    /// As for a user without privileges.
    pub(crate) is_procfs_only: bool,
}

impl RunOptions {
    /// The command's words, as far as they are text.
    pub(crate) fn command_words(&self) -> Vec<String> {
        self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

/// A lock to be held while the command runs.
#[derive(Clone, Debug)]
pub(crate) struct LockOptions {
    pub(crate) path: PathBuf,
    pub(crate) is_shared: bool,
    /// None: without end.
    pub(crate) patience: Option<Duration>,
    pub(crate) conflict_exit: u8,
    /// The command and what it starts hold it, too.
    pub(crate) is_inherited: bool,
}
