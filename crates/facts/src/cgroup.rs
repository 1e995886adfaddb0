//! What a cgroup used and was held to.

use crate::linux::cgroup_io::CgroupIo;
use crate::unit::{Bytes, Nanos};

/// Figures since the cgroup was made; `None` if its hierarchy does not count them. A v1 hierarchy counts what its
/// controllers do, so most are absent there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupUsage {
    /// CPU time.
    pub cpu: Option<Nanos>,
    /// Time its quota kept its tasks from the CPU.
    pub throttled: Option<Nanos>,
    /// Periods in which it did.
    pub throttled_periods: Option<u64>,
    /// Memory in use now, page cache included.
    pub memory: Option<Bytes>,
    /// Bytes read from and written to block devices.
    pub io: Option<CgroupIo>,
}
