//! Where an agent records: a directory with a lock, so that it is the only one there.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use history::HISTORY;
use probe::lock::{LockFile, Taken};
use store::{Retention, Store, StoreError};

use crate::options::{RecorderError, RecorderOptions};
use service::{Level, Log};

/// The name of the lock file.
const LOCK: &str = "lock";
const LOCK_PATIENCE: Duration = Duration::from_millis(200);
/// Suffixes of databases and their write-ahead logs.
const DATABASE_ENDS: [&str; 3] = [".sqlite", ".sqlite-wal", ".sqlite-shm"];
/// The most bytes of a history in memory.
const FALLBACK_BYTES: u64 = 64_000_000;
/// A locked history is tried so often, with these pauses.
const MAX_TRIES: usize = 40;
const BETWEEN_TRIES: Duration = Duration::from_millis(250);

/// A directory that no other agent records into, as long as this is kept.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    pub(crate) history: PathBuf,
    /// It is in memory, and small.
    is_fallback: bool,
    _lock: LockFile,
}

impl DataDirectory {
    /// Takes the data directory and opens its history, or another one if nothing can be written there: an agent that records in memory,
    /// and says so, is better than none.
    ///
    /// # Errors
    /// If another agent records there, a newer version did, or nothing can be written anywhere.
    pub(crate) fn take(options: &RecorderOptions, log: &Log) -> Result<(Self, Store), RecorderError> {
        match Self::open_when_free(options) {
            Err(error @ (RecorderError::System(..) | RecorderError::Store(_, StoreError::Database(_)))) => {
                let Some(fallback) = &options.fallback else { return Err(error) };
                let taken = Self::open(fallback, &options.retention, true)?;
                let message = format!("{error}; until a restart the history is in {}", fallback.display());
                log.write(Level::Warning, &message);
                Ok(taken)
            }
            taken => taken,
        }
    }

    /// Opens the history. One that another process has locked, as a copy of it does for a moment, is waited for.
    fn open_when_free(options: &RecorderOptions) -> Result<(Self, Store), RecorderError> {
        for _ in 1..MAX_TRIES {
            match Self::open(&options.data, &options.retention, false) {
                Err(RecorderError::Store(_, error)) if error.is_busy() => thread::sleep(BETWEEN_TRIES),
                opened => return opened,
            }
        }
        Self::open(&options.data, &options.retention, false)
    }

    /// Takes a directory and opens its history.
    pub(crate) fn open(
        directory: &Path,
        retention: &Retention,
        is_fallback: bool,
    ) -> Result<(Self, Store), RecorderError> {
        let place = Self::lock(directory, is_fallback)?;
        let store = Store::open(&place.history, place.retention(retention));
        let mut store = store.map_err(|error| RecorderError::Store(place.history.clone(), error))?;
        store.sync_in_thread();
        Ok((place, store))
    }

    fn lock(directory: &Path, is_fallback: bool) -> Result<Self, RecorderError> {
        // It has all users' tasks: for its owner alone.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| system(directory, error))?;
        check_directory(directory)?;
        check_files(directory)?;
        check_writable(directory).map_err(|error| system(directory, error))?;
        let path = directory.join(LOCK);
        // No other user may take it.
        let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        made.map_err(|error| system(&path, error))?;
        let lock = LockFile::open(&path, false).map_err(|error| system(&path, error))?;
        // A command that looks whether an agent runs has it for an instant.
        match lock.take(Some(LOCK_PATIENCE)).map_err(|error| system(&path, error))? {
            Taken::No => Err(RecorderError::Taken(directory.to_owned())),
            _ => Ok(Self { history: directory.join(HISTORY), is_fallback, _lock: lock }),
        }
    }

    /// Returns the limits of what is kept there.
    pub(crate) fn retention(&self, wanted: &Retention) -> Retention {
        let most_bytes =
            if self.is_fallback { wanted.most_bytes.min(FALLBACK_BYTES) } else { wanted.most_bytes };
        Retention { most_bytes, ..wanted.clone() }
    }
}

/// Returns whether an agent records into a directory now.
///
/// # Errors
/// If its lock may not be looked at.
pub fn is_recorded_into(directory: &Path) -> io::Result<bool> {
    let path = directory.join(LOCK);
    Ok(path.try_exists()? && LockFile::open(&path, true)?.try_take()? == Taken::No)
}

/// The permissions by which a group or others can write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Refuses a directory in which other users could replace files by links.
fn check_directory(directory: &Path) -> Result<(), RecorderError> {
    let metadata = fs::metadata(directory).map_err(|error| system(directory, error))?;
    let why = match () {
        () if metadata.uid() != probe::own_uid() => "it belongs to another user",
        () if metadata.mode() & WRITABLE_BY_OTHERS != 0 => "other users can write there; run chmod go-w",
        () => return Ok(()),
    };
    Err(RecorderError::Unsafe(directory.to_owned(), why))
}

/// Refuses a FIFO, device, directory or symbolic link in place of a database or the lock. Opening a FIFO can block for ever, and a link may
/// point to any file.
fn check_files(directory: &Path) -> Result<(), RecorderError> {
    for entry in fs::read_dir(directory).map_err(|error| system(directory, error))? {
        let entry = entry.map_err(|error| system(directory, error))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_own = name == LOCK || DATABASE_ENDS.iter().any(|end| name.ends_with(end));
        let kind = entry.file_type().map_err(|error| system(&entry.path(), error))?;
        if is_own && !kind.is_file() {
            let why = "not a regular file; move it away";
            return Err(RecorderError::Unsafe(entry.path(), why));
        }
    }
    Ok(())
}

fn system(path: &Path, error: io::Error) -> RecorderError {
    RecorderError::System(path.display().to_string(), error)
}

/// Checks that a file can be made in a directory, and written: a lock that is there can be taken where nothing can be.
fn check_writable(directory: &Path) -> io::Result<()> {
    let path = directory.join(format!(".writable-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = file.write_all(&[0; 4096]);
    fs::remove_file(&path)?;
    written
}
