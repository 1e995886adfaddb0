//! Directories read and tidied relative to their descriptors: getdirentries(2), fstatat(2), unlinkat(2).

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use facts::age::FileTimes;
use facts::unit::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, linkat, openat, statat, unlinkat};
use rustix::io::Errno;

pub use crate::directory_entry::{EntryKind, EntryStatus, Mounts, StatusWanted};

const OPEN: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
const STICKY: u32 = 0o1000;

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    pub(crate) descriptor: OwnedFd,
    device: u64,
}

impl Directory {
    /// Opens the directory of this path, which may not be a symlink itself.
    ///
    /// # Errors
    /// The errors of openat(2).
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(openat(rustix::fs::CWD, path, OPEN, Mode::empty())?)
    }

    fn of(descriptor: OwnedFd) -> io::Result<Self> {
        let device = u64::from(fstat(&descriptor)?.st_dev);
        Ok(Self { descriptor, device })
    }

    /// Opens a directory in this one: not through a symlink, and not on another device unless that is asked for.
    ///
    /// # Errors
    /// The errors of openat(2); `CrossesDevices` for a mount.
    pub fn open_below(&self, name: &CStr, mounts: Mounts) -> io::Result<Self> {
        let below = Self::of(openat(&self.descriptor, name, OPEN, Mode::empty())?)?;
        if mounts == Mounts::Left && below.device != self.device {
            return Err(Errno::XDEV.into());
        }
        Ok(below)
    }

    /// Lists it from its beginning, but for itself and its parent. How many system calls that took, about.
    ///
    /// # Errors
    /// The errors of getdirentries(2).
    pub fn list(
        &self,
        _memory: &mut [MaybeUninit<u8>],
        mut each: impl FnMut(&CStr, EntryKind),
    ) -> io::Result<u64> {
        let mut count = 0;
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            count += 1;
            if entry.file_name() != c"." && entry.file_name() != c".." {
                each(entry.file_name(), EntryKind::of(entry.file_type()));
            }
        }
        Ok(2 + count / 100)
    }

    /// Reads the properties of an entry, itself and not what it points to. One system call, which says everything.
    ///
    /// # Errors
    /// The errors of fstatat(2).
    pub fn status(&self, name: &CStr, _wanted: StatusWanted) -> io::Result<EntryStatus> {
        Ok(status(&statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Reads the properties of the directory.
    ///
    /// # Errors
    /// The errors of [`Self::status`].
    pub fn own_status(&self, _wanted: StatusWanted) -> io::Result<EntryStatus> {
        Ok(status(&fstat(&self.descriptor)?))
    }

    /// Returns true: it is not known if a filesystem is mounted on it, so this is assumed.
    pub fn is_mount_point(&self) -> bool {
        true
    }

    /// Moves an entry to another directory of the filesystem, where nothing may have that name: a second name, then without
    /// the first. Directories, of which there is no second name, are not moved.
    ///
    /// # Errors
    /// The errors of linkat(2) and unlinkat(2).
    pub fn move_to(&self, name: &CStr, target: &Self, target_name: &CStr) -> io::Result<()> {
        linkat(&self.descriptor, name, &target.descriptor, target_name, AtFlags::empty())?;
        Ok(unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }
}

fn status(found: &Stat) -> EntryStatus {
    let time_ns =
        |seconds: i64, nanos: i64| Some(seconds.saturating_mul(1_000_000_000).saturating_add(nanos));
    let mode = u32::from(found.st_mode);
    EntryStatus {
        kind: EntryKind::of(FileType::from_raw_mode(found.st_mode)),
        permissions: (mode & 0o7777) as u16,
        is_sticky: mode & STICKY != 0,
        uid: Some(found.st_uid),
        device: (0, found.st_dev as u32),
        inode: found.st_ino,
        bytes: Bytes(u64::try_from(found.st_size).unwrap_or(0)),
        allocated: Bytes(u64::try_from(found.st_blocks).unwrap_or(0).saturating_mul(512)),
        times: FileTimes {
            accessed_ns: time_ns(found.st_atime, found.st_atime_nsec),
            born_ns: time_ns(found.st_birthtime, found.st_birthtime_nsec),
            changed_ns: time_ns(found.st_ctime, found.st_ctime_nsec),
            modified_ns: time_ns(found.st_mtime, found.st_mtime_nsec),
        },
    }
}
