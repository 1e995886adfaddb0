//! Checkpoints, which sync a history. Those of a recorder run in a thread of their own: on a busy disk a sync takes seconds, and no tick
//! may wait for it.
//!
//! While one runs, nothing is written by the recorder. So a checkpoint finds all that was written and nothing new, and the log can start
//! over after each; a log that grows meanwhile would have to grow as long as the disk is busy.

use std::path::Path;
use std::thread::JoinHandle;

use facts::unit::Nanos;
use rusqlite::Connection;

use crate::database;
use crate::error::StoreError;

/// A checkpoint that has not ended after this time is reported.
const STALL: Nanos = Nanos(10_000_000_000);

/// The checkpoint that was started last.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    is_in_thread: bool,
    /// Its thread and when it started, until its result was taken.
    running: Option<(JoinHandle<Result<(), StoreError>>, Nanos)>,
}

impl Checkpoint {
    /// Makes each checkpoint from now on run in a thread.
    pub(crate) fn set_in_thread(&mut self) {
        self.is_in_thread = true;
    }

    /// Makes a checkpoint over a connection, or starts one of its file in a thread, if that is possible.
    ///
    /// # Errors
    /// Returns an error if a checkpoint that is made at once fails.
    pub(crate) fn start(&mut self, own: &Connection, path: &Path, now: Nanos) -> Result<(), StoreError> {
        if !self.is_in_thread {
            return database::checkpoint(own);
        }
        let of_thread = path.to_owned();
        let thread =
            std::thread::Builder::new().name("sync".to_owned()).spawn(move || database::sync(&of_thread));
        match thread {
            Ok(thread) => {
                self.running = Some((thread, now));
                Ok(())
            }
            Err(_) => database::checkpoint(own),
        }
    }

    /// Returns whether nothing runs.
    ///
    /// # Errors
    /// [`StoreError::Waiting`] while it runs, [`StoreError::Stalled`] after ten seconds. Once, if it failed.
    pub(crate) fn poll(&mut self, now: Nanos) -> Result<(), StoreError> {
        match &self.running {
            Some((thread, started)) if !thread.is_finished() => {
                let is_stalled = now.saturating_sub(*started) >= STALL;
                Err(if is_stalled { StoreError::Stalled } else { StoreError::Waiting })
            }
            _ => self.finish(),
        }
    }

    /// Waits for the end of a checkpoint that runs.
    ///
    /// # Errors
    /// If it failed.
    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        let Some((thread, _)) = self.running.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
