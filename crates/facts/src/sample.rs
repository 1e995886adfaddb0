//! Raw values read at one instant.

use std::fmt;

use crate::cgroup::LimitedCgroup;
use crate::linux::arcstats::ArcStats;
use crate::linux::backlight::Backlight;
use crate::linux::cgroup_cpu::CpuQuota;
use crate::linux::diskstats::DiskStats;
use crate::linux::loadavg::LoadAverage;
use crate::linux::meminfo::MemInfo;
use crate::linux::mounts::Mount;
use crate::linux::net_attributes::Link;
use crate::linux::net_dev::NetDev;
use crate::linux::net_protocols::{NetProtocolField, NetProtocols};
use crate::linux::nl80211::Station;
use crate::linux::power_supply::PowerSupply;
use crate::linux::pressure::Pressure;
use crate::linux::rtnetlink::Address;
use crate::linux::sensors::Temperature;
use crate::linux::stat::Stat;
use crate::linux::uptime::Uptime;
use crate::linux::vmstat::VmStat;
use crate::linux::zoneinfo::ZoneInfo;
use crate::linux::zram::Zram;
use crate::unit::{Bytes, Nanos};

/// Why a value is not there. Different troubles, and one that is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// No view asked for it.
    #[default]
    NotWanted,
    /// It was there and went: a task that ended, a device that was pulled.
    Gone,
    /// Not for this user.
    Denied,
    /// This kernel or machine does not have it.
    Unsupported,
    /// The process has no descriptor, or the machine no memory, left to read it.
    Exhausted,
    /// It was there and said something that whit cannot read.
    Malformed,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWanted => "not asked for",
            Self::Gone => "gone",
            Self::Denied => "permission denied",
            Self::Unsupported => "not offered by this kernel",
            Self::Exhausted => "no descriptors or memory left to read it (see ulimit -n)",
            Self::Malformed => "not in the expected format",
        })
    }
}

/// A value, or why it is absent. The memory of an absent value is kept for the next reading.
#[derive(Clone, Debug, Default)]
pub struct Reading<T> {
    value: T,
    absence: Option<Absence>,
    was_read: bool,
}

impl<T> Reading<T> {
    /// The value.
    ///
    /// # Errors
    /// Why there is none.
    pub fn get(&self) -> Result<&T, Absence> {
        match self.absence {
            None if self.was_read => Ok(&self.value),
            None => Err(Absence::NotWanted),
            Some(absence) => Err(absence),
        }
    }

    /// Reads anew through `fill`, into the memory of the last value.
    pub fn fill(&mut self, fill: impl FnOnce(&mut T) -> Result<(), Absence>) {
        self.absence = fill(&mut self.value).err();
        self.was_read = true;
    }

    /// Sets a value.
    pub fn set(&mut self, value: T) {
        *self = Self { value, absence: None, was_read: true };
    }
}

/// When a sample was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// CLOCK_MONOTONIC: stands still while the machine is suspended.
    pub monotonic: Nanos,
    /// CLOCK_BOOTTIME: goes on then. Neither can be set.
    pub boottime: Nanos,
    /// CLOCK_REALTIME: since 1970, for people; may step either way.
    pub realtime: Nanos,
}

impl Clock {
    /// Returns a time on the boot clock in milliseconds since 1970, by what the clocks say now.
    pub fn realtime_ms_of(&self, boottime: Nanos) -> i64 {
        let since_1970 = self.realtime.0.cast_signed() - self.boottime.0.cast_signed();
        (since_1970 + boottime.0.cast_signed()) / 1_000_000
    }
}

/// /proc/pressure, all of it.
#[derive(Clone, Debug, Default)]
pub struct Pressures {
    /// /proc/pressure/cpu.
    pub cpu: Reading<Pressure>,
    /// /proc/pressure/io.
    pub io: Reading<Pressure>,
    /// /proc/pressure/memory.
    pub memory: Reading<Pressure>,
    /// /proc/pressure/irq. Since 6.1.
    pub irq: Reading<Pressure>,
}

/// Counters of protocols, by their file.
#[derive(Clone, Debug, Default)]
pub struct NetProtocolFiles {
    /// /proc/net/snmp.
    pub snmp: Reading<NetProtocols>,
    /// /proc/net/snmp6; without IPv6 there is none.
    pub snmp6: Reading<NetProtocols>,
    /// /proc/net/netstat.
    pub netstat: Reading<NetProtocols>,
}

impl NetProtocolFiles {
    /// Returns a counter, from the file that has it.
    pub fn get(&self, field: NetProtocolField) -> Option<u64> {
        let files = [&self.snmp, &self.netstat, &self.snmp6];
        files.into_iter().find_map(|file| file.get().ok()?.get(field))
    }
}

/// The space of one mounted filesystem, from statfs(2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filesystem {
    /// The mount: what is mounted and where.
    pub mount: Mount,
    /// Its space; none while the call hangs or where it fails.
    pub space: Option<Space>,
    /// The call has not come back.
    pub is_stale: bool,
    /// The path is where it is mounted; otherwise it lies in it.
    pub is_mount_point: bool,
}

/// Space and inodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Size.
    pub total: Bytes,
    /// Free, root's reserve included.
    pub free: Bytes,
    /// Free for everyone.
    pub available: Bytes,
    /// Inodes; 0 where the filesystem makes them as needed.
    pub inodes: u64,
    /// Inodes free.
    pub free_inodes: u64,
    /// True if nothing can be written; `None` if that is not known.
    pub is_read_only: Option<bool>,
}

impl Space {
    /// Returns `None` if more is free than exists, as some remote filesystems report. Inodes become 0 if more of them are free than exist.
    pub fn if_possible(mut self) -> Option<Self> {
        if self.free_inodes > self.inodes {
            (self.inodes, self.free_inodes) = (0, 0);
        }
        (self.free <= self.total && self.available <= self.total).then_some(self)
    }
}

/// Limits and usage of the cgroup that whit runs in: those of the level, on the way up, that has the least left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupLimits {
    /// Memory limit: the smaller of what is never exceeded and, in version 2, of `memory.high`, above which the kernel takes memory
    /// back and slows its tasks down.
    pub memory_limit: Option<Bytes>,
    /// Memory used, page cache included, where that limit is set.
    pub memory_usage: Option<Bytes>,
    /// The part of `memory_usage` that is pages of files.
    pub file_cache: Option<Bytes>,
    /// The part of `file_cache` that is tmpfs and shared memory, which are not dropped.
    pub shmem: Option<Bytes>,
    /// The file pages in `file_cache` on the inactive list, the first to go.
    pub inactive_file: Option<Bytes>,
    /// File pages on the active list.
    pub active_file: Option<Bytes>,
    /// 2 or 1.
    pub version: u8,
}

impl CgroupLimits {
    /// Returns the memory that may still be used: the limit less what is charged, with the file pages, which go before the limit
    /// hurts. None without a limit.
    pub fn left(&self) -> Option<Bytes> {
        let files = self.inactive_file.unwrap_or_default() + self.active_file.unwrap_or_default();
        Some(self.memory_limit?.saturating_sub(self.memory_usage?) + files)
    }

    /// Returns the level with the least left; the innermost of those that are equal. The own level is the first; it is returned
    /// if there is no limit.
    pub fn least_left(levels: &[Self]) -> Option<&Self> {
        let limited = levels.iter().filter(|level| level.left().is_some());
        limited.min_by_key(|level| level.left()).or(levels.first())
    }
}

/// Everything that views asked for, as it was at one instant.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// When.
    pub clock: Clock,
    /// [`Source::Stat`](crate::source::Source::Stat); of [`Source::CpuTotal`](crate::source::Source::CpuTotal) only `total` and
    /// `ticks_per_second`.
    pub stat: Reading<Stat>,
    /// Memory.
    pub memory: Reading<MemInfo>,
    /// Watermarks.
    pub zones: Reading<ZoneInfo>,
    /// Memory management's counters.
    pub vmstat: Reading<VmStat>,
    /// Run queue averages.
    pub load: Reading<LoadAverage>,
    /// Time since boot.
    pub uptime: Reading<Uptime>,
    /// Traffic.
    pub net_dev: Reading<NetDev>,
    /// TCP and UDP.
    pub net_protocols: NetProtocolFiles,
    /// Links.
    pub links: Reading<Vec<Link>>,
    /// Block devices.
    pub diskstats: Reading<DiskStats>,
    /// Stalls.
    pub pressure: Pressures,
    /// Space.
    pub filesystems: Reading<Vec<Filesystem>>,
    /// Temperatures.
    pub temperatures: Reading<Vec<Temperature>>,
    /// Batteries and mains.
    pub power: Reading<Vec<PowerSupply>>,
    /// Own limits.
    pub cgroup: Reading<CgroupLimits>,
    /// The tightest quota of the own cgroup and of those above it, if there is one.
    pub cpu_quota: Reading<Option<CpuQuota>>,
    /// Cgroups with a limit of their own.
    pub limited_cgroups: Reading<Vec<LimitedCgroup>>,
    /// Compressed swap.
    pub zram: Reading<Zram>,
    /// ZFS's cache.
    pub arc: Reading<ArcStats>,
    /// Addresses of interfaces.
    pub addresses: Reading<Vec<Address>>,
    /// Wireless networks.
    pub stations: Reading<Vec<Station>>,
    /// Kilohertz of each CPU.
    pub frequencies_khz: Reading<Vec<u64>>,
    /// Brightness of screens.
    pub backlights: Reading<Vec<Backlight>>,
}

impl Sample {
    /// Returns true if the space of a filesystem was requested and has not been answered yet.
    pub fn has_stale_filesystem(&self) -> bool {
        self.filesystems.get().is_ok_and(|all| all.iter().any(|one| one.is_stale))
    }
}

#[cfg(test)]
mod limit_tests {
    use super::*;

    #[test]
    fn the_level_with_the_least_left_counts() {
        let level = |limit: Option<u64>, usage, files| CgroupLimits {
            memory_limit: limit.map(Bytes),
            memory_usage: Some(Bytes(usage)),
            inactive_file: Some(Bytes(files)),
            ..CgroupLimits::default()
        };
        // The own limit is the tighter one, but its parent has less left.
        let levels = [level(Some(256), 7, 0), level(Some(300), 280, 5), level(None, 900, 0)];
        assert_eq!(CgroupLimits::least_left(&levels).and_then(CgroupLimits::left), Some(Bytes(25)));
        assert_eq!(CgroupLimits::least_left(&levels[2..]), Some(&levels[2]));
        assert_eq!(CgroupLimits::least_left(&[]), None);
    }
}
