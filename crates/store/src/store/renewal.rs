//! A file that is damaged or gone: recording goes on in a new one.

use super::{Sealing, Store};
use crate::error::StoreError;
use crate::{aside, database};

impl Store {
    /// Renames the file, which is damaged, and goes on in a new one with what is in memory.
    pub(super) fn begin_again(&mut self, error: &StoreError) -> Result<(), StoreError> {
        let renamed = aside::rename(&self.path).map_err(StoreError::Rename)?;
        self.findings.push(aside::finding(&renamed, error));
        // Until a new one can be opened the renamed one must not be written.
        self.must_reopen = true;
        self.open_again()
    }

    /// Opens the path again, and makes a file if there is none. What is in memory is written anew.
    pub(super) fn open_again(&mut self) -> Result<(), StoreError> {
        self.connection = database::open(&self.path, database::HISTORY, database::AGENT_PATIENCE)?;
        self.identity = aside::identity(&self.path);
        self.must_reopen = false;
        self.maintenance.start_over();
        self.given_up.clear();
        self.names.forget_written();
        self.boots.forget_written();
        self.task_names.forget_written();
        // After a second failure in a row there is nothing in it.
        if !self.open.entries.is_empty() {
            self.seal_open();
        }
        self.sealing.iter_mut().for_each(Sealing::forget_written);
        self.tasks.begin_again();
        self.write(usize::MAX)
    }
}
