//! Why the library cannot be read or changed.

use std::fmt;
use std::io;

/// An error of the library.
#[derive(Debug)]
pub enum FeedError {
    /// SQLite's own error.
    Database(rusqlite::Error),
    /// Another version of whit wrote the file, in a format that this one does not read.
    Format {
        /// The file's.
        found: i64,
        /// That of this version.
        own: i64,
    },
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
            Self::Format { found, own } if found > own => {
                write!(f, "feeds.sqlite has format {found}, which a newer version of whit wrote: update whit")
            }
            Self::Format { found, own } => write!(
                f,
                "feeds.sqlite has format {found} of a version before the first release, and this one reads {own}: move the file away"
            ),
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
