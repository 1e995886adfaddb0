//! A cgroup's CPU time: v2 `cpu.stat` and `cpu.max`, v1 `cpuacct.usage`, `cpu.stat` and `cpu.cfs_{quota,period}_us`. Documentation/admin-guide/cgroup-v2.rst.

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

/// How much CPU time a cgroup's tasks may use together in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// CPU time.
    pub quota: Nanos,
    /// Real time.
    pub period: Nanos,
}

impl CpuQuota {
    /// The quota in CPUs: 0.5 is half of one.
    pub fn cpus(self) -> f64 {
        self.quota.0 as f64 / self.period.0 as f64
    }

    /// The content of v2's `cpu.max`: quota, or "max" for none, and period, in microseconds.
    ///
    /// # Errors
    /// If it is not two such words.
    pub fn parse_v2(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut cursor = Cursor::new(bytes);
        let quota = match cursor.skip(b"max") {
            true => None,
            false => Some(micros(&mut cursor)?),
        };
        cursor.skip_blanks();
        let period = micros(&mut cursor)?;
        Ok(quota.map(|quota| Self { quota, period }))
    }

    /// The content of v1's `cpu.cfs_quota_us`: microseconds, or -1 for none.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse_v1(bytes: &[u8]) -> Result<Option<Nanos>, Malformed> {
        let mut cursor = Cursor::new(bytes);
        if cursor.skip(b"-1") { Ok(None) } else { micros(&mut cursor).map(Some) }
    }

    /// The content of v1's `cpu.cfs_period_us`.
    ///
    /// # Errors
    /// If it is not a number.
    pub fn parse_v1_period(bytes: &[u8]) -> Result<Nanos, Malformed> {
        micros(&mut Cursor::new(bytes))
    }
}

/// The kernel takes neither a quota nor a period of 0.
fn micros(cursor: &mut Cursor<'_>) -> Result<Nanos, Malformed> {
    let micros = cursor.number().filter(|micros| *micros > 0);
    micros.map(Nanos::from_micros).ok_or_else(|| cursor.expected("microseconds"))
}

/// The content of v1's `cpuacct.usage`: nanoseconds.
///
/// # Errors
/// If it is not a number.
pub fn usage(bytes: &[u8]) -> Result<Nanos, Malformed> {
    let mut cursor = Cursor::new(bytes);
    cursor.number().map(Nanos).ok_or_else(|| cursor.expected("nanoseconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_of_both_versions() {
        let quota = CpuQuota::parse_v2(b"50000 100000\n").unwrap().unwrap();
        assert_eq!(quota, CpuQuota { quota: Nanos(50_000_000), period: Nanos(100_000_000) });
        assert_eq!(quota.cpus(), 0.5);
        assert_eq!(CpuQuota::parse_v2(b"max 100000\n"), Ok(None));
        assert!(CpuQuota::parse_v2(b"50000\n").is_err());
        assert!(CpuQuota::parse_v2(b"50000 0\n").is_err());
        assert_eq!(CpuQuota::parse_v1(b"-1\n"), Ok(None));
        assert_eq!(CpuQuota::parse_v1(b"150000\n"), Ok(Some(Nanos(150_000_000))));
        assert!(CpuQuota::parse_v1(b"-2\n").is_err());
    }
}
