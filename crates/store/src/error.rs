//! The errors of this crate.

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
    /// The file is there, and nothing was written into it yet: its writer has just started.
    Empty,
    /// Something could not be written a moment ago, or is being synced. It is tried again soon.
    Waiting,
    /// A sync has not ended for ten seconds.
    Stalled,
    /// A damaged file could not be moved away.
    Rename(std::io::Error),
    /// There is no room for more, for this reason.
    Full(&'static str),
}

impl StoreError {
    /// Returns whether another process had it locked.
    pub fn is_busy(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        let code = if let Self::Database(error) = self { error.sqlite_error_code() } else { None };
        code.is_some_and(|code| [DatabaseBusy, DatabaseLocked].contains(&code))
    }

    /// Returns whether the file is damaged, so that nothing more can be written into it: SQLite says so, or does not understand statements
    /// that it understands of a whole file.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{
            ConstraintViolation, DatabaseCorrupt, NotADatabase, SchemaChanged, TypeMismatch, Unknown,
        };
        match self {
            Self::Database(error) => match error.sqlite_error() {
                Some(error) => {
                    let of_damage = [
                        ConstraintViolation,
                        DatabaseCorrupt,
                        NotADatabase,
                        SchemaChanged,
                        TypeMismatch,
                        Unknown,
                    ];
                    of_damage.contains(&error.code)
                        || error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ
                }
                // A value of another type than the one that was written.
                None => true,
            },
            Self::Damaged(_) => true,
            Self::Newer(_)
            | Self::Empty
            | Self::Waiting
            | Self::Stalled
            | Self::Rename(_)
            | Self::Full(_) => false,
        }
    }
}

/// A damaged page as a damaged row: what stands in it is left out, the rest is served.
pub(crate) fn or_damaged<T>(read: Result<Option<T>, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(error) if error.is_damage() => Ok(None),
        read => read,
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => write!(f, "{error}"),
            Self::Newer(version) => {
                write!(f, "it has format {version}, which a newer version of whit wrote: update whit")
            }
            Self::Damaged(what) => write!(f, "{what} is damaged"),
            Self::Empty => f.write_str("nothing is recorded in it yet; try again in a moment"),
            Self::Waiting => f.write_str("it is tried again soon"),
            Self::Stalled => f.write_str("the disk has not ended a sync of it for ten seconds"),
            Self::Full(reason) => f.write_str(reason),
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
