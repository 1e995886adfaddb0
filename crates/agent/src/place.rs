//! Where an agent records: a directory with a lock, so that it is the only one there.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
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
        // It has all users' tasks: for its owner alone.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| system(directory, error))?;
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

/// Makes the history of a directory as small as it can be: deletes what is older than a time in nanoseconds since 1970, or else thins and
/// deletes what is old. Returns the file's bytes before and after.
///
/// # Errors
/// If an agent records there, or it cannot be written.
pub fn compact(
    directory: &Path,
    retention: &Retention,
    before_ns: Option<i64>,
) -> Result<(u64, u64), AgentError> {
    let place = Place::lock(directory, false)?;
    let failed = |error| AgentError::Store(place.history.clone(), error);
    let bytes = || fs::metadata(&place.history).map_or(0, |metadata| metadata.len());
    let before = bytes();
    let mut store = place.open_history(retention).map_err(failed)?;
    match before_ns {
        Some(before_ns) => store.drop_before(before_ns).map_err(failed)?,
        None => {
            store.compact(probe::clock_now().realtime.0.cast_signed()).map_err(failed)?;
        }
    }
    store.vacuum().map_err(failed)?;
    store.close().map_err(failed)?;
    Ok((before, bytes()))
}
