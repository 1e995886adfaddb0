//! The space of one filesystem, by statvfs(3).

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use facts::cursor::lines;
use facts::linux::mounts;
use facts::sample::Space;
use facts::unit::Bytes;
use rustix::fs::{StatVfsMountFlags, statvfs};

/// `None` if it is not known. This can hang for ever if the path leads to another machine.
pub(crate) fn space_of(path: &CStr) -> Option<Space> {
    let stat = statvfs(path).ok()?;
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(stat.f_frsize));
    let space = Space {
        total: bytes(stat.f_blocks),
        free: bytes(stat.f_bfree),
        available: bytes(stat.f_bavail),
        inodes: stat.f_files,
        free_inodes: stat.f_ffree,
        is_read_only: Some(stat.f_flag.contains(StatVfsMountFlags::RDONLY)),
    };
    space.if_possible()
}

/// The space of the filesystem that a path is on; `None` if it is not known. As the other, this can hang.
pub fn space_of_path(path: &Path) -> Option<Space> {
    space_of(&CString::new(path.as_os_str().as_bytes()).ok()?)
}

/// The space of a captured machine's filesystem: from lines of "mount size free available inodes free_inodes", in bytes.
pub(crate) fn captured_space(text: &[u8], target: &[u8]) -> Option<Space> {
    for mut line in lines(text) {
        if !line.word().is_some_and(|word| mounts::unescaped(word).eq(target.iter().copied())) {
            continue;
        }
        let mut number = || line.number();
        let space = Space {
            total: Bytes(number()?),
            free: Bytes(number()?),
            available: Bytes(number()?),
            inodes: number()?,
            free_inodes: number()?,
            is_read_only: None,
        };
        return space.if_possible();
    }
    None
}
