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
    /// A damaged file could not be moved away.
    Rename(std::io::Error),
}

impl StoreError {
    /// Whether the file is damaged, so that nothing more can be written into it.
    pub(crate) fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Database(error) => {
                matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
                    // A table or a column that is not there any more.
                    || matches!(error, rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::IntegralValueOutOfRange(..))
                    || error.to_string().starts_with("no such")
            }
            Self::Damaged(_) => true,
            Self::Newer(_) | Self::Rename(_) => false,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => write!(f, "{error}"),
            Self::Newer(version) => write!(f, "it is of format {version}, which a newer whit wrote"),
            Self::Damaged(what) => write!(f, "{what} is damaged"),
            Self::Rename(error) => write!(f, "it is damaged, and cannot be renamed: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}
