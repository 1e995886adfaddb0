//! FreeBSD has no cgroups.

use std::io;

use rustix::fd::BorrowedFd;

use crate::signal::TaskSignal;

/// A cgroup of a command's own, which cannot be made here.
#[derive(Debug)]
pub enum CommandCgroup {}

impl CommandCgroup {
    /// Never makes one.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn make(_words: &str, _random: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// There is none.
    pub fn processes_file(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    /// There is none.
    pub fn processes(&self) -> Vec<u32> {
        match *self {}
    }

    /// There is none.
    pub fn send_all(&self, _signal: TaskSignal) -> Vec<u32> {
        match *self {}
    }
}
