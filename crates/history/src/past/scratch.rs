//! Histories for tests.

use std::path::PathBuf;

use store::{Retention, Store};

use super::Past;

/// A directory with a history, which is removed with this.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes a directory.
    pub(crate) fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("whit-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    /// Where the history is.
    pub(crate) fn history(&self) -> PathBuf {
        self.0.join("history.sqlite")
    }

    /// Records a history and opens it.
    pub(crate) fn past(&self, record: impl FnOnce(&mut Store)) -> Past {
        let mut store = Store::open(&self.history(), Retention::default()).unwrap();
        record(&mut store);
        store.close().unwrap();
        Past::open(&self.history()).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
