//! A history between two questions: opening it anew costs more than most answers.

use std::path::Path;

use super::{History, HistoryFile};
use crate::aside;
use crate::boots::{self, Boots};
use crate::error::StoreError;
use crate::reading::Heads;

/// A history that is not read now. It holds no snapshot, so that the writer's log can be reused.
#[derive(Debug)]
pub struct HistoryAtRest(History);

impl History {
    /// Ends the snapshot.
    ///
    /// # Errors
    /// If that fails: then it is closed.
    pub fn rest(mut self) -> Result<HistoryAtRest, StoreError> {
        for file in std::iter::once(&mut self.current).chain(&mut self.renamed) {
            // What is cached is worth nothing after the next tick.
            file.heads = Heads::default();
            file.connection.execute_batch("COMMIT; PRAGMA shrink_memory")?;
        }
        Ok(HistoryAtRest(self))
    }
}

impl HistoryAtRest {
    /// Goes on with what was kept, or opens the history if nothing was, or that fails.
    ///
    /// # Errors
    /// As [`History::open`].
    pub fn go_on_or_open(kept: Option<Self>, path: &Path) -> Result<History, StoreError> {
        match kept.filter(|kept| kept.0.current.path == path).map(Self::go_on) {
            Some(Ok(history)) => Ok(history),
            _ => History::open(path),
        }
    }

    /// Returns the history as it is now; what was read before is not read again. One whose files are others by now is opened anew.
    ///
    /// # Errors
    /// As [`History::open`].
    pub fn go_on(self) -> Result<History, StoreError> {
        let Self(mut history) = self;
        let path = history.current.path.clone();
        if !history.has_same_files(&path) {
            drop(history);
            return History::open(&path);
        }
        history.current.go_on()?;
        for file in &history.renamed {
            file.connection.execute_batch("BEGIN")?;
        }
        Ok(history)
    }
}

impl History {
    /// Returns whether the path has the file that is open, and the same damaged ones are beside it.
    fn has_same_files(&self, path: &Path) -> bool {
        self.current.identity.is_some()
            && self.current.identity == aside::identity(path)
            && aside::list(path).iter().map(|path| aside::identity(path)).eq(self.aside.iter().copied())
    }
}

impl HistoryFile {
    /// Begins a snapshot of what is there now, and reads what is new.
    pub(super) fn go_on(&mut self) -> Result<(), StoreError> {
        // All reads see one state: blocks that the writer seals from now on are in the journal here.
        self.connection.execute_batch("BEGIN")?;
        self.names.read_new(&self.connection)?;
        self.unsealed.go_on(&self.connection)?;
        if let Some(chunks) = self.unsealed_chunks.get_mut() {
            chunks.go_on(&self.connection)?;
        }
        // If it is not known, series that were imported seem to end now and then, and nothing else changes.
        self.imported_boot = Boots::read(&self.connection).ok().and_then(|boots| boots.find(boots::IMPORTED));
        Ok(())
    }
}
