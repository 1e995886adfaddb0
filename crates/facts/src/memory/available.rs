//! MemAvailable: the kernel's own where it says it, else by its formula.

use crate::linux::meminfo::{MemInfo, MemInfoField as Field};
use crate::linux::version::KernelVersion;
use crate::linux::vmstat::{VmStat, VmStatField};
use crate::linux::zoneinfo::ZoneInfo;
use crate::unit::Bytes;

/// Where the available figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvailableSource {
    /// The kernel's own MemAvailable (3.14 and later).
    Kernel,
    /// The kernel's formula, from meminfo and zoneinfo.
    Emulated,
    /// The formula with a guess in place of the zones' watermarks, which cannot be read.
    Estimated,
}

/// Memory for new work without swapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// How much.
    pub bytes: Bytes,
    /// According to whom.
    pub source: AvailableSource,
}

/// The kernel's own figure or, where it says none or that is `forced`, the formula's.
pub fn available(memory: &MemInfo, emulation: Option<Emulation<'_>>, is_forced: bool) -> Option<Available> {
    match memory.bytes(Field::MemAvailable).filter(|_| !is_forced) {
        Some(bytes) => Some(Available { bytes, source: AvailableSource::Kernel }),
        None => emulation.and_then(|emulation| emulate_available(memory, emulation)),
    }
}

/// The values that the emulation of MemAvailable needs beside meminfo.
#[derive(Clone, Copy, Debug)]
pub struct Emulation<'a> {
    /// The kernel's release; it decides the formula.
    pub version: KernelVersion,
    /// /proc/zoneinfo, where it can be read.
    pub zones: Option<&'a ZoneInfo>,
    /// /proc/vmstat, for reclaimable memory that meminfo lacks.
    pub vmstat: Option<&'a VmStat>,
    /// /proc/sys/vm/min_free_kbytes, for the estimate without zones.
    pub min_free: Option<Bytes>,
    /// Bytes in a page.
    pub page_bytes: u64,
}

/// The kernel from which on the reserve, not the low watermark, is taken off the free memory.
const TOTAL_RESERVE_SINCE: KernelVersion = KernelVersion::new(4, 5);
/// The one older branch that took that over, and the patch that did.
const TOTAL_RESERVE_BACKPORT: KernelVersion = KernelVersion { major: 3, minor: 16, patch: 72 };

/// MemAvailable by the kernel's formula (si_mem_available in mm/show_mem.c); `None` if meminfo lacks what it needs
/// (the file lists' sizes, before 2.6.28).
pub fn emulate_available(memory: &MemInfo, emulation: Emulation<'_>) -> Option<Available> {
    let free = memory.bytes(Field::MemFree)?;
    let page_cache = memory.bytes(Field::ActiveFile)? + memory.bytes(Field::InactiveFile)?;
    let pages = |pages: u64| Bytes(pages.saturating_mul(emulation.page_bytes));
    let version = emulation.version;
    let backport = version.major == 3 && version.minor == 16 && version >= TOTAL_RESERVE_BACKPORT;
    let takes_reserve = version >= TOTAL_RESERVE_SINCE || backport;

    let (low, reserve, source) = match emulation.zones {
        Some(zones) if takes_reserve => {
            (pages(zones.low_pages), pages(zones.total_reserve_pages), AvailableSource::Emulated)
        }
        Some(zones) => (pages(zones.low_pages), pages(zones.low_pages), AvailableSource::Emulated),
        // The low watermark is 5/4 of the minimum, and the minima of all zones add up to min_free_kbytes.
        None => {
            let low = Bytes(emulation.min_free?.0.saturating_mul(5) / 4);
            (low, low, AvailableSource::Estimated)
        }
    };
    let slab_reclaimable = memory.bytes(Field::SReclaimable).unwrap_or_default();
    // KReclaimable has the slab in it; where meminfo lacks the line, vmstat counts what is beside the slab.
    let reclaimable = memory.bytes(Field::KReclaimable).unwrap_or_else(|| {
        let beside_slab = emulation.vmstat.and_then(|vmstat| vmstat.get(VmStatField::MiscReclaimable));
        slab_reclaimable + pages(beside_slab.unwrap_or(0))
    });
    let spared = |bytes: Bytes| bytes.saturating_sub(Bytes(bytes.0 / 2).min(low));
    // Signed like the kernel's: a deficit of free memory eats into what could be reclaimed.
    let available = i128::from(free.0) - i128::from(reserve.0)
        + i128::from(spared(page_cache).0)
        + i128::from(spared(reclaimable).0);
    let bytes = Bytes(u64::try_from(available.max(0)).unwrap_or(u64::MAX));
    Some(Available { bytes, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meminfo(text: &str) -> MemInfo {
        let mut memory = MemInfo::default();
        memory.parse(text.as_bytes()).unwrap();
        memory
    }

    const TEXT: &str = "MemTotal: 1000000 kB\nMemFree: 100000 kB\nActive(file): 200000 kB\n\
        Inactive(file): 100000 kB\nSReclaimable: 40000 kB\n";

    fn emulation(version: KernelVersion, zones: Option<&ZoneInfo>) -> Emulation<'_> {
        Emulation { version, zones, vmstat: None, min_free: Some(Bytes::from_kib(4000)), page_bytes: 4096 }
    }

    #[test]
    fn the_formula_changed_in_4_5_and_in_3_16_72() {
        let memory = meminfo(TEXT);
        let zones = ZoneInfo { low_pages: 1000, total_reserve_pages: 5000, zones: 1 };
        let kib =
            |version| emulate_available(&memory, emulation(version, Some(&zones))).unwrap().bytes.0 / 1024;
        // 100000 − 4000 + 300000 − 4000 + 40000 − 4000
        assert_eq!(kib(KernelVersion::new(3, 14)), 428_000);
        assert_eq!(kib(KernelVersion { major: 3, minor: 16, patch: 71 }), 428_000);
        // 100000 − 20000 + 296000 + 36000
        assert_eq!(kib(KernelVersion { major: 3, minor: 16, patch: 72 }), 412_000);
        assert_eq!(kib(KernelVersion { major: 3, minor: 18, patch: 140 }), 428_000);
        assert_eq!(kib(KernelVersion::new(6, 18)), 412_000);
    }

    #[test]
    fn without_zones_it_is_an_estimate() {
        let available = emulate_available(&meminfo(TEXT), emulation(KernelVersion::new(2, 6), None)).unwrap();
        assert_eq!(available.source, AvailableSource::Estimated);
        // low = 5000: 100000 − 5000 + 295000 + 35000
        assert_eq!(available.bytes, Bytes::from_kib(425_000));
    }

    #[test]
    fn a_deficit_is_no_huge_number() {
        let memory = meminfo("MemTotal: 9 kB\nMemFree: 1 kB\nActive(file): 0 kB\nInactive(file): 0 kB\n");
        let zones = ZoneInfo { low_pages: 1000, total_reserve_pages: 5000, zones: 1 };
        let available =
            emulate_available(&memory, emulation(KernelVersion::new(6, 1), Some(&zones))).unwrap();
        assert_eq!(available.bytes, Bytes(0));
    }
}
