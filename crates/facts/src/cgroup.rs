//! Usage and limits of cgroups.

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

/// A cgroup with a limit of its own, and how often that was reached since the cgroup was made; `None` if its hierarchy does not count it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitedCgroup {
    /// The path in its hierarchy, with a slash before it.
    pub path: Vec<u8>,
    /// Time for which its quota kept its tasks from CPUs, added up over the CPUs.
    pub throttled: Option<Nanos>,
    /// Periods in which it did.
    pub throttled_periods: Option<u64>,
    /// Times that its memory reached the limit.
    pub memory_limit_reached: Option<u64>,
    /// Times that its memory passed `memory.high`, beyond which its tasks are slowed down; version 2 has it.
    pub memory_high_passed: Option<u64>,
    /// Processes that the kernel killed in it for want of memory.
    pub oom_kills: Option<u64>,
    /// There are processes in it that may not read or write as much as a device can.
    pub holds_io_of_members: bool,
}
