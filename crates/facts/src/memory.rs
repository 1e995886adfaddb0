//! The parts of the machine's memory.

mod available;
mod report;

pub use available::{Available, AvailableSource, Emulation, available, emulate_available};
pub use report::{LimitReport, MemoryReport};

use crate::linux::meminfo::{MemInfo, MemInfoField as Field};
use crate::unit::Bytes;

/// How the memory is used. `total` is exactly `free` + `anonymous` + `kernel` + `caches` + `others_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBreakdown {
    /// MemTotal.
    pub total: Bytes,
    /// MemFree.
    pub free: Bytes,
    /// AnonPages + Shmem: pages that the kernel can reclaim only by writing them to swap.
    pub anonymous: Bytes,
    /// SUnreclaim + KernelStack + PageTables + SecPageTables + Percpu.
    pub kernel: Bytes,
    /// Buffers + Cached − Shmem + SReclaimable (KReclaimable where it is printed).
    pub caches: CacheBreakdown,
    /// The rest of the total: huge pages, vmalloc, drivers' own pages, the unmapped part of the swap cache, ZFS. Can be negative:
    /// the kernel adds per-CPU counters up late, so that the parts may exceed the total for a moment.
    pub others_bytes: i64,
}

/// The parts of `caches`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheBreakdown {
    /// Buffers: pages of block devices.
    pub buffers: Bytes,
    /// Cached − Shmem: pages of files.
    pub files: Bytes,
    /// Reclaimable slab and, in KReclaimable, other kernel memory that is freed under memory pressure.
    pub slab: Bytes,
}

impl CacheBreakdown {
    /// All of them.
    pub fn total(&self) -> Bytes {
        self.buffers + self.files + self.slab
    }
}

impl MemoryBreakdown {
    /// From /proc/meminfo. Memory of a field that an old kernel does not print is counted in `others_bytes`.
    pub fn new(memory: &MemInfo) -> Self {
        let get = |field| memory.bytes(field).unwrap_or_default();
        let (total, free, shmem) = (get(Field::MemTotal), get(Field::MemFree), get(Field::Shmem));
        let anonymous = get(Field::AnonPages) + shmem;
        let kernel = memory.sum(&[
            Field::SUnreclaim,
            Field::KernelStack,
            Field::PageTables,
            Field::SecPageTables,
            Field::Percpu,
        ]);
        let caches = CacheBreakdown {
            buffers: get(Field::Buffers),
            files: get(Field::Cached).saturating_sub(shmem),
            slab: memory.bytes(Field::KReclaimable).unwrap_or(get(Field::SReclaimable)),
        };
        let signed = |bytes: Bytes| i64::try_from(bytes.0).unwrap_or(i64::MAX);
        let named = anonymous + kernel + caches.total();
        let others_bytes = signed(total.saturating_sub(free)).saturating_sub(signed(named));
        Self { total, free, anonymous, kernel, caches, others_bytes }
    }
}

/// Swap space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swap {
    /// SwapTotal.
    pub total: Bytes,
    /// SwapTotal − SwapFree.
    pub used: Bytes,
    /// SwapFree.
    pub free: Bytes,
}

impl Swap {
    /// From /proc/meminfo; `None` if it lacks SwapTotal or SwapFree.
    pub fn new(memory: &MemInfo) -> Option<Self> {
        let (total, free) = (memory.bytes(Field::SwapTotal)?, memory.bytes(Field::SwapFree)?);
        Some(Self { total, used: total.saturating_sub(free), free })
    }
}

/// The pool of huge pages (hugetlbfs). All its pages count as used memory, the free ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HugePages {
    /// The pool: of all sizes if the kernel reports that (4.20), otherwise of the default size.
    pub total: Bytes,
    /// Pages of the default size that are not in use.
    pub free: Bytes,
}

impl HugePages {
    /// From /proc/meminfo; `None` if there is no pool.
    pub fn new(memory: &MemInfo) -> Option<Self> {
        let size = memory.bytes(Field::HugePageSize)?;
        let pages = |field| Bytes(memory.get(field).unwrap_or(0).saturating_mul(size.0));
        let total = memory.bytes(Field::Hugetlb).unwrap_or_else(|| pages(Field::HugePagesTotal));
        (total.0 > 0).then(|| Self { total, free: pages(Field::HugePagesFree) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn meminfo(text: &str) -> MemInfo {
        let mut memory = MemInfo::default();
        memory.parse(text.as_bytes()).unwrap();
        memory
    }

    proptest! {
        #[test]
        fn the_columns_add_up_whatever_the_kernel_prints(values in proptest::collection::vec(0u64..1 << 40, 12)) {
            let names = ["MemTotal", "MemFree", "Buffers", "Cached", "AnonPages", "Shmem", "SReclaimable",
                "SUnreclaim", "KernelStack", "PageTables", "Percpu", "KReclaimable"];
            // A reading in which more is free than there is, is refused.
            let values = values.iter().enumerate().map(|(place, value)| if place == 1 { *value.min(&values[0]) } else { *value });
            let text: String = names.iter().zip(values).map(|(name, kib)| format!("{name}: {kib} kB\n")).collect();
            let parts = MemoryBreakdown::new(&meminfo(&text));
            let sum = parts.free.min(parts.total) + parts.anonymous + parts.kernel + parts.caches.total();
            prop_assert_eq!(i128::from(sum.0) + i128::from(parts.others_bytes), i128::from(parts.total.0));
        }
    }
}
