//! Directories read and tidied by as few calls as the kernel allows, and never through a path: everything happens relative to
//! a descriptor, so that a directory which is replaced by a symlink meanwhile is not followed.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use facts::age::{AgeBy, FileTimes};
use facts::unit::Bytes;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, Statx, StatxFlags, StatxTimestamp,
    openat, openat2, renameat_with, statx,
};
use rustix::io::Errno;

pub use crate::directory_entry::{EntryKind, EntryStatus, Mounts, StatusWanted};

const OPEN: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const PERMISSIONS: u16 = 0o7777;
const STICKY: u16 = 0o1000;

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    pub(crate) descriptor: OwnedFd,
    device: (u32, u32),
    /// Since 5.6; without it a mount is only recognised by its device.
    has_openat2: bool,
}

impl Directory {
    /// Opens the directory of this path, which may not be a symlink itself.
    ///
    /// # Errors
    /// The errors of openat(2).
    pub fn open(path: &Path) -> io::Result<Self> {
        let open = |flags| openat(rustix::fs::CWD, path, flags, Mode::empty());
        let flags = OPEN | OFlags::NOFOLLOW;
        // Reading a directory is no use of it; others' may be opened only so that it counts as one.
        let descriptor = match open(flags | OFlags::NOATIME) {
            Err(Errno::PERM) => open(flags)?,
            opened => opened?,
        };
        let device = device_of(&descriptor)?;
        Ok(Self { descriptor, device, has_openat2: true })
    }

    /// Opens a directory in this one: not through a symlink, and not across a mount unless that is asked for.
    ///
    /// # Errors
    /// The errors of openat2(2): `CrossesDevices` for a mount, `FilesystemLoop` or `NotADirectory` for a symlink.
    pub fn open_below(&self, name: &CStr, mounts: Mounts) -> io::Result<Self> {
        match self.open_with(name, OPEN | OFlags::NOFOLLOW | OFlags::NOATIME, mounts) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::PERM) => {
                self.open_with(name, OPEN | OFlags::NOFOLLOW, mounts)
            }
            opened => opened,
        }
    }

    fn open_with(&self, name: &CStr, flags: OFlags, mounts: Mounts) -> io::Result<Self> {
        if self.has_openat2 {
            let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            if mounts == Mounts::Left {
                resolve |= ResolveFlags::NO_XDEV;
            }
            match openat2(&self.descriptor, name, flags, Mode::empty(), resolve) {
                Ok(descriptor) => return Ok(Self { descriptor, device: self.device, has_openat2: true }),
                // Older than 5.6, or forbidden by a sandbox, or not ours.
                Err(Errno::NOSYS | Errno::PERM) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let descriptor = openat(&self.descriptor, name, flags, Mode::empty())?;
        let device = device_of(&descriptor)?;
        if mounts == Mounts::Left && device != self.device {
            return Err(Errno::XDEV.into());
        }
        Ok(Self { descriptor, device, has_openat2: false })
    }

    /// Lists it from its beginning, but for itself and its parent, through `memory`. How many system calls that took.
    ///
    /// # Errors
    /// The errors of getdents64(2).
    pub fn list(
        &self,
        memory: &mut [MaybeUninit<u8>],
        mut each: impl FnMut(&CStr, EntryKind),
    ) -> io::Result<u64> {
        let mut listing = RawDir::new(&self.descriptor, memory);
        let mut calls = 0;
        loop {
            calls += u64::from(listing.is_buffer_empty());
            match listing.next() {
                None => return Ok(calls),
                Some(Err(Errno::INTR)) => {}
                Some(Err(error)) => return Err(error.into()),
                Some(Ok(entry)) => {
                    let name = entry.file_name();
                    if name != c"." && name != c".." {
                        each(name, EntryKind::of(entry.file_type()));
                    }
                }
            }
        }
    }

    /// Reads the properties of an entry, itself and not what it points to, and no more than is wanted. One system call.
    ///
    /// # Errors
    /// The errors of statx(2), which does not exist before 4.11.
    pub fn status(&self, name: &CStr, wanted: StatusWanted) -> io::Result<EntryStatus> {
        // Of a network's filesystem what is known here will do, unless a decision hangs on it.
        let sync = if wanted.identity { AtFlags::STATX_FORCE_SYNC } else { AtFlags::STATX_DONT_SYNC };
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | sync;
        Ok(status(&statx(&self.descriptor, name, flags, mask(wanted))?))
    }

    /// Reads the properties of the directory.
    ///
    /// # Errors
    /// The errors of [`Self::status`].
    pub fn own_status(&self, wanted: StatusWanted) -> io::Result<EntryStatus> {
        Ok(status(&statx(&self.descriptor, c"", AtFlags::EMPTY_PATH, mask(wanted))?))
    }

    /// Returns true if a filesystem, or another part of one, is mounted on it. Also true if the kernel does not say (before 5.8).
    pub fn is_mount_point(&self) -> bool {
        // linux/stat.h: STATX_ATTR_MOUNT_ROOT.
        const MOUNT_ROOT: u64 = 0x2000;
        let found = statx(&self.descriptor, c"", AtFlags::EMPTY_PATH, StatxFlags::INO);
        found.map_or(true, |found| {
            let attributes = found.stx_attributes.bits();
            found.stx_attributes_mask.bits() & MOUNT_ROOT == 0 || attributes & MOUNT_ROOT != 0
        })
    }

    /// Moves an entry to another directory of the filesystem, where nothing may have that name.
    ///
    /// # Errors
    /// The errors of renameat2(2): `AlreadyExists` where something has.
    pub fn move_to(&self, name: &CStr, target: &Self, target_name: &CStr) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        Ok(renameat_with(&self.descriptor, name, &target.descriptor, target_name, flags)?)
    }
}

fn device_of(descriptor: impl AsFd) -> io::Result<(u32, u32)> {
    let found = statx(descriptor, c"", AtFlags::EMPTY_PATH, StatxFlags::INO)?;
    Ok((found.stx_dev_major, found.stx_dev_minor))
}

fn mask(wanted: StatusWanted) -> StatxFlags {
    let AgeBy { accessed, born, changed, modified } = wanted.times;
    [
        (true, StatxFlags::TYPE | StatxFlags::MODE | StatxFlags::SIZE | StatxFlags::BLOCKS),
        (wanted.owner, StatxFlags::UID),
        (wanted.identity, StatxFlags::INO),
        (accessed, StatxFlags::ATIME),
        (born, StatxFlags::BTIME),
        (changed, StatxFlags::CTIME),
        (modified, StatxFlags::MTIME),
    ]
    .into_iter()
    .filter(|(is_wanted, _)| *is_wanted)
    .fold(StatxFlags::empty(), |mask, (_, flag)| mask | flag)
}

fn status(found: &Statx) -> EntryStatus {
    let mask = StatxFlags::from_bits_retain(found.stx_mask);
    let time_ns = |flag: StatxFlags, time: &StatxTimestamp| {
        mask.contains(flag)
            .then(|| time.tv_sec.saturating_mul(1_000_000_000).saturating_add(i64::from(time.tv_nsec)))
    };
    EntryStatus {
        kind: EntryKind::of(FileType::from_raw_mode(u32::from(found.stx_mode))),
        permissions: found.stx_mode & PERMISSIONS,
        is_sticky: found.stx_mode & STICKY != 0,
        uid: mask.contains(StatxFlags::UID).then_some(found.stx_uid),
        device: (found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
        bytes: Bytes(found.stx_size),
        // Always in units of 512, whatever the filesystem's block.
        allocated: Bytes(found.stx_blocks.saturating_mul(512)),
        times: FileTimes {
            accessed_ns: time_ns(StatxFlags::ATIME, &found.stx_atime),
            born_ns: time_ns(StatxFlags::BTIME, &found.stx_btime),
            changed_ns: time_ns(StatxFlags::CTIME, &found.stx_ctime),
            modified_ns: time_ns(StatxFlags::MTIME, &found.stx_mtime),
        },
    }
}
