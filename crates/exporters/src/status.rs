//! What came of each target, for `whit history exporters`: a file that the agent writes and the command reads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use service::state_file::{self, Durability};

/// The name of the file in the data directory.
const FILE: &str = "exporters.json";

/// A target, and its last reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetStatus {
    /// Its name.
    pub name: String,
    /// Its address without what may be a key, or its directory.
    pub place: String,
    /// When it was read last, in nanoseconds since 1970; `None`: not yet.
    pub read_ns: Option<i64>,
    /// How long that took, in nanoseconds.
    pub took_ns: u64,
    /// The samples that were recorded of it.
    pub samples_count: u64,
    /// Readings that failed since the agent began.
    pub failures_count: u64,
    /// What went wrong in the last one.
    pub fault: Option<String>,
}

impl TargetStatus {
    /// Returns the path of the file.
    pub fn path(data: &Path) -> PathBuf {
        data.join(FILE)
    }

    /// Reads those of a data directory.
    ///
    /// # Errors
    /// If the file cannot be read, or is something else.
    pub fn read_all(data: &Path) -> io::Result<Vec<Self>> {
        match fs::read(Self::path(data)) {
            Ok(text) => serde_json::from_slice(&text).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Writes those of a data directory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write_all(data: &Path, targets: &[&Self]) -> io::Result<()> {
        state_file::replace(&Self::path(data), &serde_json::to_vec_pretty(targets)?, Durability::Process)
    }

    /// Forgets all: there are no targets any more.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn clear(data: &Path) -> io::Result<()> {
        match fs::remove_file(Self::path(data)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
