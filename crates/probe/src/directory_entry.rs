//! What every system says of a directory's entries.

use std::ffi::CStr;
use std::io;

use facts::age::{AgeBy, FileTimes};
use facts::unit::Bytes;
use rustix::fd::AsFd;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
    /// The filesystem does not say it in its listings: the status does.
    Unknown,
}

impl EntryKind {
    pub(crate) fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::BlockDevice => Self::BlockDevice,
            FileType::CharacterDevice => Self::CharacterDevice,
            FileType::Unknown => Self::Unknown,
        }
    }
}

/// What is asked of an entry, beside its kind, its sizes and its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusWanted {
    /// These times.
    pub times: AgeBy,
    /// Its user.
    pub owner: bool,
    /// Its inode, by which it is known again.
    pub identity: bool,
}

impl StatusWanted {
    /// Nothing but the kind, the sizes and the permissions.
    pub const KIND: Self = Self {
        times: AgeBy { accessed: false, born: false, changed: false, modified: false },
        owner: false,
        identity: false,
    };
}

/// What is known of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryStatus {
    /// What it is.
    pub kind: EntryKind,
    /// The bits of chmod(2).
    pub permissions: u16,
    /// Whether it is marked to be left alone.
    pub is_sticky: bool,
    /// Its user, where asked for.
    pub uid: Option<u32>,
    /// Its filesystem: major and minor number.
    pub device: (u32, u32),
    /// Its number there, where asked for.
    pub inode: u64,
    /// Its length.
    pub bytes: Bytes,
    /// What it takes on the disk.
    pub allocated: Bytes,
    /// Its times, those that were asked for.
    pub times: FileTimes,
}

impl EntryStatus {
    /// Whether it is this user's and nobody else may enter it; its owner must have been asked for.
    pub fn is_own_and_private(&self) -> bool {
        self.permissions == 0o700 && self.uid == Some(geteuid().as_raw())
    }
}

/// What is done with a directory that another filesystem, or another part of this one, is mounted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounts {
    /// It is left alone.
    Left,
    /// It is entered.
    Crossed,
}

/// Locks what is open here, for as long as it is.
pub(crate) fn lock(descriptor: impl AsFd) -> io::Result<()> {
    Ok(flock(descriptor, FlockOperation::LockExclusive)?)
}

/// Whether somebody holds a lock (flock(2)) on what is open here.
pub(crate) fn is_locked(descriptor: impl AsFd) -> bool {
    match flock(&descriptor, FlockOperation::NonBlockingLockExclusive) {
        // Closing the last descriptor would give it back, too; somebody else may be waiting for this one.
        Ok(()) => flock(&descriptor, FlockOperation::Unlock).is_err(),
        Err(error) => error == Errno::WOULDBLOCK,
    }
}

/// The same of a file of a directory; none holds one on what cannot be opened.
pub(crate) fn is_file_locked(directory: impl AsFd, name: &CStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty()).is_ok_and(is_locked)
}
