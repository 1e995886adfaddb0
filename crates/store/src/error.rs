//! What can go wrong.

use std::fmt;

/// Why something could not be recorded or read.
#[derive(Debug)]
pub enum StoreError {
    /// SQLite's own error.
    Database(rusqlite::Error),
    /// Written by a newer version, in this format.
    Newer(i64),
    /// Bytes that are not what was written.
    Damaged(&'static str),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => write!(f, "{error}"),
            Self::Newer(version) => write!(f, "it is of format {version}, which a newer whit wrote"),
            Self::Damaged(what) => write!(f, "{what} is damaged"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}
