//! A damaged file is renamed, so that recording goes on in a new one and what is whole of it can still be read.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::StoreError;

/// Renames a history and its log. Returns the new path.
pub(crate) fn rename(path: &Path) -> io::Result<PathBuf> {
    let renamed = (1..=u32::MAX)
        .map(|number| path.with_extension(format!("damaged-{number}.sqlite")))
        .find(|renamed| !renamed.exists())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    // The log belongs to it by its name, and must not come to belong to the new file.
    for end in ["-wal", "-shm"] {
        match fs::rename(with_end(path, end), with_end(&renamed, end)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, &renamed)?;
    Ok(renamed)
}

/// Device and inode of a file; `None` if there is none.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Returns whether the header of the file is one that SQLite does not write: <https://www.sqlite.org/fileformat.html#the_database_header>.
/// SQLite takes an unknown version of the format for a file that may not be written.
pub(crate) fn has_damaged_header(path: &Path) -> bool {
    let mut header = [0; 24];
    let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok();
    is_read && !(matches!(header[18..20], [1 | 2, 1 | 2]) && header[21..24] == [64, 32, 32])
}

/// The damaged files beside a history, the oldest first.
pub(crate) fn list(path: &Path) -> Vec<PathBuf> {
    (1..=u32::MAX)
        .map(|number| path.with_extension(format!("damaged-{number}.sqlite")))
        .take_while(|renamed| renamed.exists())
        .collect()
}

/// Returns the message to the user about the renamed file.
pub(crate) fn finding(renamed: &Path, error: &StoreError) -> String {
    format!("the history is damaged ({error}); it is {} now, and a new one was begun", renamed.display())
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
