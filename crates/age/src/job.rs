//! One directory to scan, and what to do in it.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::selection::Selection;

/// One directory and what is meant in it.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) directory: PathBuf,
    /// Where the pattern begins that found it.
    pub(crate) beginning: Option<PathBuf>,
    pub(crate) selection: Selection,
    pub(crate) is_recursive: bool,
}

impl Job {
    pub(super) fn path(&self) -> &[u8] {
        self.directory.as_os_str().as_bytes()
    }
}
