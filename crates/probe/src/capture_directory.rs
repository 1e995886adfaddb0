//! The directory of a capture that is being written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
    /// Makes the directory.
    pub(crate) fn create(directory: &Path) -> Result<Self, CaptureError> {
        let directory = directory.to_owned();
        match fs::create_dir(&directory) {
            Ok(()) => Ok(Self { directory, files: 0 }),
            Err(error) => Err(CaptureError::Write(directory, error)),
        }
    }

    /// The number of files that were written.
    pub(crate) fn files(&self) -> u64 {
        self.files
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), CaptureError> {
        let path = self.directory.join(path);
        let parent = path.parent().unwrap_or(&self.directory);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes));
        written.map_err(|error| CaptureError::Write(path, error))?;
        self.files += 1;
        Ok(())
    }
}
