//! Files with the state of a part, which one process writes and others read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// They are the agent's alone, as the history is.
const MODE: u32 = 0o600;

/// Whether a state survives a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It does: it is on the disk when [`replace`] returns.
    Power,
    /// It survives the end of the process alone.
    Process,
}

/// Replaces a file: whole or not at all.
///
/// # Errors
/// If the directory cannot be written.
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(MODE).open(&new)?;
    file.write_all(bytes)?;
    if durability == Durability::Power {
        file.sync_data()?;
    }
    fs::rename(&new, path)
}
