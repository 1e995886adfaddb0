//! The options of a recorder, and the errors if it cannot record.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use facts::unit::Ratio;
use formats::redaction::Redaction;
use formats::relabel::Relabelling;
use store::{Retention, StoreError};

/// The options of a recorder: what is recorded, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct RecorderOptions {
    /// A directory of its own: the history, and the lock of its one recorder.
    pub data: PathBuf,
    /// Another directory, in memory, for a history as long as there can be none in `data`.
    pub fallback: Option<PathBuf>,
    /// The file with the last tick for scripts; `None`: none.
    pub now: Option<PathBuf>,
    /// The metrics in it, by name; a `*` at the end stands for any rest. Empty: all.
    pub now_metrics: Vec<String>,
    /// Between two ticks.
    pub interval: Duration,
    /// Between two readings of sources that take long or hardly change.
    pub slow_interval: Duration,
    /// End after so many ticks.
    pub count: Option<u64>,
    /// Tasks are recorded.
    pub records_tasks: bool,
    /// The parts of command lines that are hidden; `None`: command lines are not recorded.
    pub command_lines: Option<Redaction>,
    /// The changes of the names of series before they are recorded.
    pub relabelling: Relabelling,
    /// The limits of what is kept.
    pub retention: Retention,
    /// The command of the process that serves, which gets a socket as standard input; `None`: nothing is served.
    pub server: Option<Vec<OsString>>,
    /// The part of a CPU that recording may use before tasks are read less often; `None`: any.
    pub cpu_limit: Option<Ratio>,
}

/// Why nothing can be recorded.
#[derive(Debug)]
pub enum RecorderError {
    /// An error of the data directory or the machine.
    System(String, io::Error),
    /// The data directory or a file in it could be under the control of another user.
    Unsafe(PathBuf, &'static str),
    /// Another agent records into this directory.
    Taken(PathBuf),
    /// An error of the history.
    Store(PathBuf, StoreError),
}

impl fmt::Display for RecorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(what, error) => write!(f, "{what}: {error}"),
            Self::Unsafe(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Taken(path) => {
                write!(f, "{}: another agent records there; use --data DIR for another place", path.display())
            }
            Self::Store(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for RecorderError {}
