//! Where the machine is: the live one, or one that was captured into a directory.

use std::fmt;
use std::io;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags, open};

/// The root below which `proc` and `sys` are opened.
#[derive(Clone, Debug)]
pub struct Roots {
    root: Option<PathBuf>,
}

/// A root that cannot be opened.
#[derive(Debug)]
pub struct RootError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for RootError {}

impl Roots {
    /// This machine.
    pub fn live() -> Self {
        Self { root: None }
    }

    /// A machine captured below `root`, which holds `proc` and perhaps `sys` and `statfs`.
    pub fn captured(root: impl Into<PathBuf>) -> Self {
        Self { root: Some(root.into()) }
    }

    /// Whether the machine stands still.
    pub fn is_captured(&self) -> bool {
        self.root.is_some()
    }

    /// A path of the machine, `/proc/stat`, as one of this machine's.
    pub fn path(&self, path: &str) -> PathBuf {
        match &self.root {
            None => PathBuf::from(path),
            Some(root) => root.join(path.trim_start_matches('/')),
        }
    }

    /// Refuses a captured machine, which is one of Linux and is read there.
    ///
    /// # Errors
    /// For every other root.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn open_live(&self) -> Result<(), RootError> {
        match &self.root {
            None => Ok(()),
            Some(path) => {
                let message = "a captured machine is one of Linux, and is read there";
                let error = io::Error::new(io::ErrorKind::Unsupported, message);
                Err(RootError { path: path.clone(), error })
            }
        }
    }

    /// The directory that all other paths are opened from.
    ///
    /// # Errors
    /// Where it is no directory that can be opened, or a captured one holds no `proc`.
    #[cfg(target_os = "linux")]
    pub(crate) fn open(&self) -> Result<RootDirectory, RootError> {
        let path = self.root.as_deref().unwrap_or(Path::new("/"));
        let fail =
            |path: &Path, error: rustix::io::Errno| RootError { path: path.into(), error: error.into() };
        let directory = open(path, DIRECTORY, Mode::empty()).map_err(|error| fail(path, error))?;
        if self.is_captured() {
            let proc = path.join("proc");
            open(&proc, DIRECTORY, Mode::empty()).map_err(|error| fail(&proc, error))?;
        }
        Ok(RootDirectory { directory, is_captured: self.is_captured() })
    }
}

#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open root.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct RootDirectory {
    directory: OwnedFd,
    pub(crate) is_captured: bool,
}

#[cfg(target_os = "linux")]
impl AsFd for RootDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}
