//! `vm.stats.vm.*`: pages by what they are used for. sys/vmmeter.h.

use crate::linux::meminfo::{MemInfo, MemInfoField as Field};

/// Pages, and how large they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmStats {
    /// `v_page_size`.
    pub page_bytes: u64,
    /// `v_page_count`.
    pub pages: u64,
    /// `v_free_count`.
    pub free_pages: u64,
    /// `v_active_count`: in use by processes and as buffers.
    pub active_pages: u64,
    /// `v_inactive_count`: not used recently; the first to be reclaimed, after they are written if they are dirty.
    pub inactive_pages: u64,
    /// `v_laundry_count`: to be written to swap first. Since FreeBSD 11.1.
    pub laundry_pages: Option<u64>,
    /// `v_wire_count`: the kernel's, the ZFS cache in it.
    pub wired_pages: u64,
    /// `v_cache_count`: always 0 since FreeBSD 12, and then gone.
    pub cache_pages: Option<u64>,
}

/// Swap space in pages, of all devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwapPages {
    /// All.
    pub total: u64,
    /// In use.
    pub used: u64,
}

impl VmStats {
    /// As the names that memory goes by here. What is in use by processes (active and laundry, which hold files' pages as
    /// well: the kernel does not tell them apart) stands as anonymous, inactive pages as caches, wired ones but for the
    /// ZFS cache as the kernel's.
    pub fn fill(&self, memory: &mut MemInfo, swap: Option<SwapPages>, arc_bytes: u64) {
        let bytes = |pages: u64| pages.saturating_mul(self.page_bytes);
        let cached = bytes(self.inactive_pages.saturating_add(self.cache_pages.unwrap_or(0)));
        *memory = MemInfo::default();
        memory.set(Field::MemTotal, bytes(self.pages));
        memory.set(Field::MemFree, bytes(self.free_pages));
        memory.set(Field::MemAvailable, bytes(self.free_pages).saturating_add(cached));
        memory.set(Field::Cached, cached);
        let in_use = self.active_pages.saturating_add(self.laundry_pages.unwrap_or(0));
        memory.set(Field::AnonPages, bytes(in_use));
        memory.set(Field::SUnreclaim, bytes(self.wired_pages).saturating_sub(arc_bytes));
        if let Some(swap) = swap {
            memory.set(Field::SwapTotal, bytes(swap.total));
            memory.set(Field::SwapFree, bytes(swap.total.saturating_sub(swap.used)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryBreakdown;

    #[test]
    fn the_seeds_percentage_comes_out_and_the_columns_add_up() {
        let stats = VmStats {
            page_bytes: 4096,
            pages: 2_000_000,
            free_pages: 1_200_000,
            active_pages: 100_000,
            inactive_pages: 440_000,
            laundry_pages: Some(10_000),
            wired_pages: 250_000,
            cache_pages: None,
        };
        let mut memory = MemInfo::default();
        stats.fill(&mut memory, Some(SwapPages { total: 1000, used: 10 }), 4096 * 50_000);
        let parts = MemoryBreakdown::new(&memory);
        let available = memory.get(Field::MemAvailable).unwrap();
        assert_eq!(100 * (parts.total.0 - available) / parts.total.0, 18);
        assert_eq!(parts.kernel.0, 4096 * 200_000);
        assert_eq!(parts.others_bytes, 4096 * 50_000);
        assert_eq!(memory.get(Field::SwapFree), Some(990 * 4096));
        let absurd = VmStats { page_bytes: u64::MAX, pages: u64::MAX, wired_pages: 7, ..VmStats::default() };
        absurd.fill(&mut memory, None, u64::MAX);
        assert_eq!(memory.get(Field::SwapTotal), None);
    }
}
