//! Histories for tests.

use std::path::PathBuf;

use facts::sample::Clock;
use facts::unit::Nanos;
use store::{Retention, SeriesId, Store, Tick};

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

/// Appends a tick without tasks.
pub(crate) fn append(store: &mut Store, at_ms: i64, values: &[(SeriesId, f64)]) {
    let at = Nanos((at_ms * 1_000_000).unsigned_abs());
    let clock = Clock { realtime: at, monotonic: at, boottime: at };
    store.append(&Tick { clock, boot_id: "boot", values, tasks: None }).unwrap();
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
