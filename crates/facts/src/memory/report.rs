//! Everything that `whit free` shows of one sample.

use super::{Available, Emulation, HugePages, MemoryBreakdown, Swap, available};
use crate::linux::arcstats::ArcStats;
use crate::linux::meminfo::{MemInfo, MemInfoField as Field};
use crate::linux::pressure::Pressure;
use crate::linux::zram::Zram;
use crate::sample::{Absence, CgroupLimits, Sample};
use crate::unit::Bytes;

/// The memory of a machine, and of the cgroup that whit runs in where that is limited.
#[derive(Clone, Debug)]
pub struct MemoryReport {
    /// /proc/meminfo itself.
    pub meminfo: MemInfo,
    /// Its parts.
    pub breakdown: MemoryBreakdown,
    /// For new work; `None` if neither the kernel nor the formula says.
    pub available: Option<Available>,
    /// Swap space; `None` if the kernel has none compiled in.
    pub swap: Option<Swap>,
    /// The pool of huge pages; `None` if there is none.
    pub huge_pages: Option<HugePages>,
    /// Compressed swap; `None` if there is none in use.
    pub zram: Option<Zram>,
    /// ZFS's cache; `None` if ZFS is not loaded.
    pub arc: Option<ArcStats>,
    /// The own limit; `None` if there is none below the machine's memory.
    pub limit: Option<LimitReport>,
    /// Stalls for want of memory.
    pub pressure: Option<Pressure>,
}

/// A container's memory, as its cgroup counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitReport {
    /// The memory that may be used.
    pub limit: Bytes,
    /// limit − available.
    pub used: Bytes,
    /// The limit less what the cgroup is charged with, page cache included.
    pub free: Bytes,
    /// Pages of files, without shared memory.
    pub caches: Bytes,
    /// free + the file pages, which go before the limit hurts; never more than the machine has.
    pub available: Bytes,
    /// 2 or 1.
    pub cgroup_version: u8,
}

impl MemoryReport {
    /// From a sample that has [`Source::MemInfo`](crate::source::Source::MemInfo) and any other source.
    /// `emulation` is used if the kernel does not report MemAvailable, or always with `force_emulation`.
    ///
    /// # Errors
    /// Why there is no meminfo.
    pub fn new(
        sample: &Sample,
        emulation: Option<Emulation<'_>>,
        force_emulation: bool,
    ) -> Result<Self, Absence> {
        let memory = sample.memory.get()?;
        let available = available(memory, emulation, force_emulation);
        let breakdown = MemoryBreakdown::new(memory);
        let limits = sample.cgroup.get().ok();
        Ok(Self {
            breakdown,
            available,
            swap: Swap::new(memory),
            huge_pages: HugePages::new(memory),
            zram: sample.zram.get().ok().copied().filter(|zram| zram.used.0 > 0),
            arc: sample.arc.get().ok().copied(),
            limit: limits.and_then(|limits| LimitReport::new(limits, breakdown.total, available)),
            pressure: sample.pressure.memory.get().ok().copied(),
            meminfo: memory.clone(),
        })
    }

    /// Memory in use: what new programs cannot get, total − available. None if what is available is not known.
    pub fn used(&self) -> Option<Bytes> {
        Some(self.breakdown.total.saturating_sub(self.available?.bytes))
    }

    /// Returns the memory that may be promised to tasks (CommitLimit), and the memory that was (Committed_AS).
    pub fn commitment(&self) -> Option<(Bytes, Bytes)> {
        self.meminfo.bytes(Field::CommitLimit).zip(self.meminfo.bytes(Field::CommittedAs))
    }
}

impl LimitReport {
    fn new(limits: &CgroupLimits, total: Bytes, available: Option<Available>) -> Option<Self> {
        let limit = limits.memory_limit.filter(|limit| *limit < total)?;
        let free = limit.saturating_sub(limits.memory_usage?);
        let caches = limits.file_cache.unwrap_or_default().saturating_sub(limits.shmem.unwrap_or_default());
        let of_machine = available.map_or(total, |available| available.bytes);
        let available = limits.left()?.min(of_machine);
        Some(Self {
            limit,
            used: limit.saturating_sub(available),
            free,
            caches,
            available,
            cgroup_version: limits.version,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::AvailableSource;

    #[test]
    fn a_limit_above_the_machine_is_none() {
        let limits = CgroupLimits {
            memory_limit: Some(Bytes(100)),
            memory_usage: Some(Bytes(70)),
            inactive_file: Some(Bytes(20)),
            active_file: Some(Bytes(5)),
            file_cache: Some(Bytes(30)),
            shmem: Some(Bytes(5)),
            version: 2,
        };
        assert_eq!(LimitReport::new(&limits, Bytes(100), None), None);
        let report = LimitReport::new(&limits, Bytes(1000), None).unwrap();
        assert_eq!((report.free, report.caches, report.available), (Bytes(30), Bytes(25), Bytes(55)));
        assert_eq!(report.used, Bytes(45));
        let tight = Available { bytes: Bytes(40), source: AvailableSource::Kernel };
        assert_eq!(LimitReport::new(&limits, Bytes(1000), Some(tight)).unwrap().available, Bytes(40));
    }
}
