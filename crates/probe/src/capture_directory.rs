//! The directory of a capture that is being written.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use crate::roots::RootError;

/// Why a machine could not be captured.
#[derive(Debug)]
pub enum CaptureError {
    /// The machine cannot be opened.
    Root(RootError),
    /// A file of the capture cannot be written.
    Write(PathBuf, io::Error),
}

impl From<RootError> for CaptureError {
    fn from(error: RootError) -> Self {
        Self::Root(error)
    }
}

/// A capture that is being written.
#[derive(Debug)]
pub(crate) struct Capture {
    directory: PathBuf,
    files: u64,
}

impl Capture {
    /// Makes the directory, which only this user can enter: what root reads is not for other users.
    pub(crate) fn create(directory: &Path) -> Result<Self, CaptureError> {
        let directory = directory.to_owned();
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => Ok(Self { directory, files: 0 }),
            Err(error) => Err(CaptureError::Write(directory, error)),
        }
    }

    /// The number of files that were written.
    pub(crate) fn files(&self) -> u64 {
        self.files
    }

    /// Writes a file, with the directories above it. A path that leads out of the capture is left out: mounts and cgroups, which
    /// others may have named, are parts of paths.
    pub(crate) fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), CaptureError> {
        let inner = Path::new(path.trim_start_matches('/'));
        if !inner.components().all(|part| matches!(part, Component::Normal(_))) {
            return Ok(());
        }
        let path = self.directory.join(inner);
        let write = || {
            let parent = path.parent().unwrap_or(&self.directory);
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.write_all(bytes)
        };
        match write() {
            // Two mounts have one path.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(CaptureError::Write(path, error)),
            Ok(()) => {
                self.files += 1;
                Ok(())
            }
        }
    }
}
