//! The state of a file.

use facts::unit::Nanos;
use rustix::fs::Stat;

use crate::clock::clock_now;

/// Distinguishes the states of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified_s: i64,
    pub(super) modified_ns: i64,
}

impl Identity {
    // The types of these fields differ from system to system.
    #[allow(clippy::unnecessary_cast)]
    pub(super) fn new(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified_s: stat.st_mtime as i64,
            modified_ns: stat.st_mtime_nsec as i64,
        }
    }

    /// Returns true if another change could carry the same time: clocks of filesystems go in steps, those without a fraction in
    /// steps of up to two seconds, the others of a few milliseconds.
    pub(super) fn may_change_unseen(&self) -> bool {
        let step = if self.modified_ns == 0 { Nanos(2_000_000_000) } else { Nanos(20_000_000) };
        let modified = i128::from(self.modified_s) * 1_000_000_000 + i128::from(self.modified_ns);
        i128::from(clock_now().realtime.0) - modified < i128::from(step.0)
    }
}
