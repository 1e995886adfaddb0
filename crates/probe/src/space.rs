//! The space of one filesystem, by statvfs(3).

use std::ffi::CStr;

use facts::sample::Space;
use facts::unit::Bytes;
use rustix::fs::statvfs;

/// `None` if it is not known. This can hang for ever if the path leads to another machine.
pub(crate) fn space_of(path: &CStr) -> Option<Space> {
    let stat = statvfs(path).ok()?;
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(stat.f_frsize));
    Some(Space {
        total: bytes(stat.f_blocks),
        free: bytes(stat.f_bfree),
        available: bytes(stat.f_bavail),
        inodes: stat.f_files,
        free_inodes: stat.f_ffree,
    })
}
