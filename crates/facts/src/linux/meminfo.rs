//! /proc/meminfo: where the machine's memory is. Since 2.4; proc_meminfo(5).

use super::keyed::keyed;
use crate::cursor::{Cursor, Malformed};
use crate::unit::Bytes;

keyed! {
    /// /proc/meminfo. Sizes in bytes; `HugePages_*` are numbers of pages.
    MemInfo,
    /// A line of /proc/meminfo.
    MemInfoField {
        MemTotal = "MemTotal",
        MemFree = "MemFree",
        /// Since 3.14.
        MemAvailable = "MemAvailable",
        Buffers = "Buffers",
        Cached = "Cached",
        SwapCached = "SwapCached",
        Active = "Active",
        Inactive = "Inactive",
        /// Since 2.6.28, like the three that follow.
        ActiveAnon = "Active(anon)",
        InactiveAnon = "Inactive(anon)",
        ActiveFile = "Active(file)",
        InactiveFile = "Inactive(file)",
        Unevictable = "Unevictable",
        Mlocked = "Mlocked",
        /// Only on 32-bit kernels with high memory, like the three that follow.
        HighTotal = "HighTotal",
        HighFree = "HighFree",
        LowTotal = "LowTotal",
        LowFree = "LowFree",
        SwapTotal = "SwapTotal",
        SwapFree = "SwapFree",
        /// Since 5.19.
        Zswap = "Zswap",
        /// Since 5.19.
        Zswapped = "Zswapped",
        Dirty = "Dirty",
        Writeback = "Writeback",
        AnonPages = "AnonPages",
        Mapped = "Mapped",
        /// Since 2.6.32.
        Shmem = "Shmem",
        /// Since 4.20.
        KReclaimable = "KReclaimable",
        Slab = "Slab",
        SReclaimable = "SReclaimable",
        SUnreclaim = "SUnreclaim",
        /// Since 2.6.32.
        KernelStack = "KernelStack",
        PageTables = "PageTables",
        /// Since 6.1.
        SecPageTables = "SecPageTables",
        NfsUnstable = "NFS_Unstable",
        Bounce = "Bounce",
        WritebackTmp = "WritebackTmp",
        CommitLimit = "CommitLimit",
        CommittedAs = "Committed_AS",
        VmallocTotal = "VmallocTotal",
        /// 0 from 4.4 to 5.2.
        VmallocUsed = "VmallocUsed",
        VmallocChunk = "VmallocChunk",
        /// Since 4.20.
        Percpu = "Percpu",
        HardwareCorrupted = "HardwareCorrupted",
        AnonHugePages = "AnonHugePages",
        ShmemHugePages = "ShmemHugePages",
        FileHugePages = "FileHugePages",
        CmaTotal = "CmaTotal",
        CmaFree = "CmaFree",
        /// Since 6.16.
        Balloon = "Balloon",
        HugePagesTotal = "HugePages_Total",
        HugePagesFree = "HugePages_Free",
        HugePagesRsvd = "HugePages_Rsvd",
        HugePagesSurp = "HugePages_Surp",
        HugePageSize = "Hugepagesize",
        /// Since 4.20: huge pages of every size.
        Hugetlb = "Hugetlb",
    }
}

/// Sizes of parts of what MemTotal counts. Ballooned memory is none of it.
const PARTS_OF_MEMORY: &[MemInfoField] = {
    use MemInfoField::*;
    &[
        MemFree,
        MemAvailable,
        Buffers,
        Cached,
        SwapCached,
        Active,
        Inactive,
        ActiveAnon,
        InactiveAnon,
        ActiveFile,
        InactiveFile,
        Unevictable,
        Mlocked,
        Zswap,
        Dirty,
        Writeback,
        AnonPages,
        Mapped,
        Shmem,
        KReclaimable,
        Slab,
        SReclaimable,
        SUnreclaim,
        KernelStack,
        PageTables,
        SecPageTables,
        Percpu,
        AnonHugePages,
        ShmemHugePages,
        FileHugePages,
    ]
};

/// Sizes of what may be larger than the memory.
const OTHER_SIZES: &[MemInfoField] = {
    use MemInfoField::*;
    &[MemTotal, SwapTotal, Zswapped, CommitLimit, CommittedAs, Hugetlb]
};

/// A larger size is a difference that wrapped: no machine has an exbibyte.
const MAX_BYTES: u64 = 1 << 60;

impl MemInfo {
    /// Fills from the bytes of /proc/meminfo.
    ///
    /// # Errors
    /// If a known line holds no number, or `MemTotal` or `MemFree` is missing.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.parse_until(bytes, None)
    }

    /// Fills up to what is available: the third line of some fifty. The whole where an old kernel does not say it.
    ///
    /// # Errors
    /// As above.
    pub fn parse_available(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.parse_until(bytes, Some(MemInfoField::MemAvailable))
    }

    fn parse_until(&mut self, bytes: &[u8], last: Option<MemInfoField>) -> Result<(), Malformed> {
        self.fill(bytes, last)?;
        self.remove_impossible();
        for field in [MemInfoField::MemTotal, MemInfoField::MemFree] {
            if self.get(field).is_none() {
                return Err(Cursor::new(bytes).expected("MemTotal, and a MemFree that is no larger"));
            }
        }
        Ok(())
    }

    /// Removes sizes that cannot be. lxcfs computes differences, which wrap below zero, and a container's total stands beside figures of
    /// the whole machine.
    fn remove_impossible(&mut self) {
        let total = self.get(MemInfoField::MemTotal).unwrap_or(0);
        for field in PARTS_OF_MEMORY {
            if self.get(*field).is_some_and(|size| size > total) {
                self.remove(*field);
            }
        }
        let swap = self.get(MemInfoField::SwapTotal);
        if self.get(MemInfoField::SwapFree) > swap {
            self.remove(MemInfoField::SwapFree);
        }
        for field in OTHER_SIZES {
            if self.get(*field).is_some_and(|size| size > MAX_BYTES) {
                self.remove(*field);
            }
        }
    }

    /// A size in bytes.
    pub fn bytes(&self, field: MemInfoField) -> Option<Bytes> {
        self.get(field).map(Bytes)
    }

    /// The sizes that this kernel prints of `fields`, added up; what it does not print adds nothing.
    pub fn sum(&self, fields: &[MemInfoField]) -> Bytes {
        fields.iter().filter_map(|field| self.bytes(*field)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kibibytes_are_multiplied_out_and_counts_are_not() {
        let mut memory = MemInfo::default();
        memory
            .parse(b"MemTotal:  16 kB\nMemFree: 1 kB\nActive(anon): 2 kB\nHugePages_Total:  3\nNew: 9 kB\n")
            .unwrap();
        assert_eq!(memory.get(MemInfoField::MemTotal), Some(16 * 1024));
        assert_eq!(memory.get(MemInfoField::ActiveAnon), Some(2 * 1024));
        assert_eq!(memory.get(MemInfoField::Active), None);
        assert_eq!(memory.get(MemInfoField::HugePagesTotal), Some(3));
    }

    /// Real machines and containers, each with what is left out.
    #[test]
    fn sizes_that_cannot_be_are_absent() {
        use MemInfoField::*;
        let total = "MemTotal: 1000 kB\nMemFree: 100 kB\n";
        for (lines, field, size) in [
            // lxcfs without swap in the container, and swapped pages of the host: less than nothing is free.
            ("SwapTotal: 0 kB\nSwapFree: 18446744073709551488 kB\n", SwapFree, None),
            ("SwapTotal: 512 kB\nSwapFree: 513 kB\n", SwapFree, None),
            ("SwapTotal: 512 kB\nSwapFree: 512 kB\n", SwapFree, Some(512)),
            // A file without SwapTotal says nothing about what is free of it.
            ("SwapFree: 512 kB\n", SwapFree, None),
            // A container's total beside figures of its machine.
            ("MemAvailable: 65000 kB\n", MemAvailable, None),
            ("Slab: 65000 kB\n", Slab, None),
            ("Percpu: 999 kB\n", Percpu, Some(999)),
            // Cached is computed from others, which are read a moment apart.
            ("Cached: 18446744073709551612 kB\n", Cached, None),
            ("Committed_AS: 18446744073709551612 kB\n", CommittedAs, None),
            // More than the memory is committed, and that is so.
            ("Committed_AS: 4000 kB\n", CommittedAs, Some(4000)),
            ("VmallocTotal: 34359738367 kB\n", VmallocTotal, Some(34_359_738_367)),
            // Ballooned memory is not in the total.
            ("Balloon: 4000 kB\n", Balloon, Some(4000)),
        ] {
            let mut memory = MemInfo::default();
            memory.parse(format!("{total}{lines}").as_bytes()).unwrap();
            assert_eq!(memory.get(field).map(|bytes| bytes / 1024), size, "{lines}");
        }
        for wrong in
            ["MemTotal: 1000 kB\nMemFree: 1001 kB\n", "MemTotal: 18446744073709551612 kB\nMemFree: 1 kB\n"]
        {
            assert!(MemInfo::default().parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_known_line_without_a_number_is_refused_with_its_place() {
        let error = MemInfo::default().parse(b"MemTotal:  x kB\n").unwrap_err();
        assert_eq!(error, Malformed { offset: 11, expected: "a number" });
    }

    #[test]
    fn a_second_reading_forgets_the_first() {
        let mut memory = MemInfo::default();
        memory.parse(b"MemTotal: 1 kB\nMemFree: 1 kB\nShmem: 1 kB\n").unwrap();
        memory.parse(b"MemTotal: 1 kB\nMemFree: 1 kB\n").unwrap();
        assert_eq!(memory.get(MemInfoField::Shmem), None);
    }
}
