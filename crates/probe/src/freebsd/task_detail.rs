//! What is known of one process beside the table: nothing that whit reads on FreeBSD yet.

use facts::sample::Absence;

use crate::roots::{RootError, Roots};

/// Reads nothing.
pub struct TaskFiles;

/// An open file of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The descriptor's number.
    pub descriptor: u32,
    /// What it leads to.
    pub target: String,
}

impl TaskFiles {
    /// Opens nothing.
    ///
    /// # Errors
    /// None.
    pub fn open(_roots: &Roots) -> Result<Self, RootError> {
        Ok(Self)
    }

    /// A process's words.
    ///
    /// # Errors
    /// Always.
    pub fn command_line(&mut self, _pid: u32) -> Result<Option<String>, Absence> {
        Err(Absence::Unsupported)
    }

    /// FreeBSD has no cgroups.
    ///
    /// # Errors
    /// Always.
    pub fn cgroup(&mut self, _pid: u32) -> Result<String, Absence> {
        Err(Absence::Unsupported)
    }

    /// A process's limits.
    ///
    /// # Errors
    /// Always.
    pub fn limits(&mut self, _pid: u32) -> Result<Vec<String>, Absence> {
        Err(Absence::Unsupported)
    }

    /// A process's open files.
    ///
    /// # Errors
    /// Always.
    pub fn open_files(&mut self, _pid: u32, _most: usize) -> Result<(Vec<OpenFile>, usize), Absence> {
        Err(Absence::Unsupported)
    }

    /// Where its program or directory is.
    ///
    /// # Errors
    /// Always.
    pub fn link(&mut self, _pid: u32, _name: &str) -> Result<String, Absence> {
        Err(Absence::Unsupported)
    }
}
