//! The replies of a captured machine: a file for each node, in the directory `sysctl`.

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::{Errno, read};

use super::Node;
use crate::roots::Roots;

/// The most bytes of one reply. A process takes 1,088 of them.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Reads captured replies. No symlink is followed, and only files are opened.
#[derive(Debug)]
pub(crate) struct Replies {
    root: OwnedFd,
    directory: OwnedFd,
}

impl Replies {
    /// Opens the directory.
    pub(crate) fn open(roots: &Roots) -> Result<Self, Errno> {
        let path = roots.captured_path().ok_or(Errno::NOENT)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(path, flags, Mode::empty())?;
        let directory = openat(&root, "sysctl", flags | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self { root, directory })
    }

    /// The reply of a node.
    pub(crate) fn read(&self, node: Node<'_>, memory: &mut Vec<u8>) -> Result<(), Errno> {
        let name = node.file_name();
        if name.contains('/') {
            return Err(Errno::NOENT);
        }
        read_file(&self.directory, &name, memory)
    }

    /// A file beside the replies: `uptime`, `statfs`.
    pub(crate) fn read_beside(&self, name: &str, memory: &mut Vec<u8>) -> Result<(), Errno> {
        read_file(&self.root, name, memory)
    }
}

fn read_file(directory: &OwnedFd, name: &str, memory: &mut Vec<u8>) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, Mode::empty())?;
    if !FileType::from_raw_mode(fstat(&file)?.st_mode).is_file() {
        return Err(Errno::NOENT);
    }
    memory.clear();
    let mut chunk = [0; 16 * 1024];
    loop {
        match read(&file, &mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) if memory.len() + length > MAX_BYTES => return Err(Errno::FBIG),
            Ok(length) => memory.extend_from_slice(&chunk[..length]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
