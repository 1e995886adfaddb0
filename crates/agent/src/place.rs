//! Where an agent records: a directory with a lock, so that it is the only one there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use probe::lock::{LockFile, Taken};
use store::{Retention, Store, StoreError};

use crate::log::{Level, Log};
use crate::options::{AgentError, AgentOptions};

/// The name of the history in the data directory.
pub const HISTORY: &str = "history.sqlite";
/// Of a history in memory.
const FALLBACK_BYTES: u64 = 64_000_000;

/// A directory that no other agent records into, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) history: PathBuf,
    /// It is in memory, and small.
    is_fallback: bool,
    _lock: LockFile,
}

impl Place {
    /// Takes the data directory, or another one if nothing can be written there: an agent that records in memory, and says so, is better
    /// than none.
    ///
    /// # Errors
    /// If another agent records there, or nothing can be written anywhere.
    pub(crate) fn take(options: &AgentOptions, log: &Log) -> Result<Self, AgentError> {
        match Self::lock(&options.data, false) {
            Err(AgentError::System(what, error)) if options.fallback.is_some() => {
                let fallback = options.fallback.clone().unwrap_or_default();
                let place = Self::lock(&fallback, true)?;
                let message =
                    format!("{what}: {error}; until a restart the history is in {}", fallback.display());
                log.write(Level::Warning, &message);
                Ok(place)
            }
            taken => taken,
        }
    }

    fn lock(directory: &Path, is_fallback: bool) -> Result<Self, AgentError> {
        let system = |path: &Path, error: io::Error| AgentError::System(path.display().to_string(), error);
        fs::create_dir_all(directory).map_err(|error| system(directory, error))?;
        let path = directory.join("lock");
        // A lock that is there can be taken where nothing can be written.
        let check = directory.join("writable");
        fs::write(&check, b"")
            .and_then(|()| fs::remove_file(&check))
            .map_err(|error| system(directory, error))?;
        let mut lock = LockFile::open(&path, false).map_err(|error| system(&path, error))?;
        match lock.try_take().map_err(|error| system(&path, error))? {
            Taken::No => Err(AgentError::Taken(directory.to_owned())),
            _ => Ok(Self { history: directory.join(HISTORY), is_fallback, _lock: lock }),
        }
    }

    /// Opens the history there.
    ///
    /// # Errors
    /// If it was written by a newer version, or cannot be opened.
    pub(crate) fn open_history(&self, retention: &Retention) -> Result<Store, StoreError> {
        Store::open(&self.history, self.retention(retention))
    }

    /// What is kept there.
    pub(crate) fn retention(&self, wanted: &Retention) -> Retention {
        let most_bytes =
            if self.is_fallback { wanted.most_bytes.min(FALLBACK_BYTES) } else { wanted.most_bytes };
        Retention { most_bytes, ..wanted.clone() }
    }
}
