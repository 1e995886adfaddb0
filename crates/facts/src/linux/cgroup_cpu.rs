//! A cgroup's CPU time: v2 `cpu.stat`, v1 `cpuacct.usage` and `cpu.stat`. Documentation/admin-guide/cgroup-v2.rst.

use super::keyed::keyed;
use crate::cursor::{Cursor, Malformed};
use crate::unit::Nanos;

keyed! {
    /// `cpu.stat` of either version.
    CgroupCpuStat,
    /// A line of `cpu.stat`.
    CgroupCpuField {
        /// v2, microseconds.
        UsageUsec = "usage_usec",
        UserUsec = "user_usec",
        SystemUsec = "system_usec",
        Periods = "nr_periods",
        Throttled = "nr_throttled",
        /// v2, microseconds.
        ThrottledUsec = "throttled_usec",
        /// v1, nanoseconds.
        ThrottledNsec = "throttled_time",
    }
}

impl CgroupCpuStat {
    /// Fills from the bytes of cpu.stat.
    ///
    /// # Errors
    /// If a known line holds no number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.fill(bytes, None)
    }

    /// Time that quotas kept its tasks from the CPU.
    pub fn throttled(&self) -> Option<Nanos> {
        let v2 = self.get(CgroupCpuField::ThrottledUsec).map(Nanos::from_micros);
        v2.or(self.get(CgroupCpuField::ThrottledNsec).map(Nanos))
    }

    /// CPU time used; v1 says it in another file, [`usage`].
    pub fn usage(&self) -> Option<Nanos> {
        self.get(CgroupCpuField::UsageUsec).map(Nanos::from_micros)
    }
}

/// The content of v1's `cpuacct.usage`: nanoseconds.
///
/// # Errors
/// If it is not a number.
pub fn usage(bytes: &[u8]) -> Result<Nanos, Malformed> {
    let mut cursor = Cursor::new(bytes);
    cursor.number().map(Nanos).ok_or_else(|| cursor.expected("nanoseconds"))
}
