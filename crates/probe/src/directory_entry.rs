//! Properties of directory entries, and operations on them, that every system has.

use std::ffi::CStr;
use std::io;

use facts::age::{AgeBy, FileTimes};
use facts::unit::Bytes;
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::directory::Directory;

/// Memory for a listing that is expected to be short.
const LISTING_BYTES: usize = 1024;

/// The kind of an entry.
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

/// The properties that are asked of an entry, beside its kind, its sizes and its permissions.
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

/// The known properties of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryStatus {
    /// The kind of entry.
    pub kind: EntryKind,
    /// The bits of chmod(2).
    pub permissions: u16,
    /// The sticky bit is set, which marks it to be left alone.
    pub is_sticky: bool,
    /// Its user, where asked for.
    pub uid: Option<u32>,
    /// Its filesystem: major and minor number.
    pub device: (u32, u32),
    /// Its number there, where asked for.
    pub inode: u64,
    /// Its length.
    pub bytes: Bytes,
    /// The space that it takes on the disk.
    pub allocated: Bytes,
    /// Its times, those that were asked for.
    pub times: FileTimes,
}

impl EntryStatus {
    /// Returns true if it belongs to this user and no other user may enter it; its owner must have been asked for. The
    /// set-group-ID bit does not count: directories inherit it.
    pub fn is_own_and_private(&self) -> bool {
        self.permissions & 0o777 == 0o700 && self.uid == Some(geteuid().as_raw())
    }
}

/// The treatment of a directory that another filesystem, or another part of this one, is mounted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounts {
    /// It is left alone.
    Left,
    /// It is entered.
    Crossed,
}

/// Operations that are the same on every system.
impl Directory {
    /// Makes a directory that only its owner may enter, and opens and locks it. The lock shows other runs that its maker is alive.
    ///
    /// # Errors
    /// The errors of mkdirat(2), openat(2) and getdents64(2). `AlreadyExists` if the name is taken, or if the new directory was
    /// exchanged for another before it was open: try another name.
    pub fn make_private(&self, name: &CStr) -> io::Result<Self> {
        mkdirat(&self.descriptor, name, Mode::RWXU)?;
        let taken = || io::Error::from(io::ErrorKind::AlreadyExists);
        let made = match self.open_below(name, Mounts::Left) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::MFILE) => return Err(error),
            opened => opened.map_err(|_| taken())?,
        };
        let wanted = StatusWanted { owner: true, ..StatusWanted::KIND };
        // Nothing here may wait: another user may hold a lock on what was exchanged for it.
        if !made.own_status(wanted)?.is_own_and_private() || !made.try_lock() || !made.is_empty()? {
            return Err(taken());
        }
        Ok(made)
    }

    /// Returns true if nothing is in it.
    ///
    /// # Errors
    /// The errors of getdents64(2).
    pub fn is_empty(&self) -> io::Result<bool> {
        let mut is_empty = true;
        self.list(Vec::with_capacity(LISTING_BYTES).spare_capacity_mut(), |_, _| is_empty = false)?;
        Ok(is_empty)
    }

    /// Takes an exclusive lock (flock(2)) that lasts until this is dropped, without waiting. Whether that was possible.
    pub fn try_lock(&self) -> bool {
        flock(&self.descriptor, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Removes an entry that is no directory.
    ///
    /// # Errors
    /// The errors of unlinkat(2).
    pub fn unlink(&self, name: &CStr) -> io::Result<()> {
        Ok(unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    /// Removes a directory that is empty.
    ///
    /// # Errors
    /// The errors of unlinkat(2): `DirectoryNotEmpty` if it is not empty.
    pub fn remove_directory(&self, name: &CStr) -> io::Result<()> {
        Ok(unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR)?)
    }

    /// Returns true if a process holds a lock on it (flock(2)), which marks it as in use.
    pub fn is_locked(&self) -> bool {
        is_locked(&self.descriptor)
    }

    /// Returns true if a process holds a lock on a file in it; false if the file cannot be opened.
    pub fn is_file_locked(&self, name: &CStr) -> bool {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(&self.descriptor, name, flags, Mode::empty()).is_ok_and(is_locked)
    }
}

fn is_locked(descriptor: impl AsFd) -> bool {
    match flock(&descriptor, FlockOperation::NonBlockingLockExclusive) {
        // Closing the last descriptor would give it back, too; another process may be waiting for this lock.
        Ok(()) => flock(&descriptor, FlockOperation::Unlock).is_err(),
        // Over NFS an exclusive lock needs a descriptor for writing (flock(2)). A shared one is refused while another has an exclusive one.
        Err(Errno::BADF) => match flock(&descriptor, FlockOperation::NonBlockingLockShared) {
            Ok(()) => flock(&descriptor, FlockOperation::Unlock).is_err(),
            Err(error) => error == Errno::WOULDBLOCK,
        },
        Err(error) => error == Errno::WOULDBLOCK,
    }
}
