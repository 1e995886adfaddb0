//! Why the library cannot be read or changed.

use std::fmt;
use std::io;

/// An error of the library.
#[derive(Debug)]
pub enum FeedError {
    /// SQLite's own error.
    Database(rusqlite::Error),
    /// A newer version of whit wrote the file, in this format.
    Newer(i64),
    /// A file or directory cannot be used.
    File(io::Error),
    /// The request is not possible, for this reason.
    Refused(String),
}

impl FeedError {
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Newer(format) => {
                write!(
                    f,
                    "feeds.sqlite has format {format}, which a newer version of whit wrote: update whit"
                )
            }
            Self::File(error) => error.fmt(f),
            Self::Refused(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for FeedError {}

impl From<rusqlite::Error> for FeedError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<io::Error> for FeedError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}
