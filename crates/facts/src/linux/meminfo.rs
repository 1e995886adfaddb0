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
        for field in [MemInfoField::MemTotal, MemInfoField::MemFree] {
            if self.get(field).is_none() {
                return Err(Cursor::new(bytes).expected("MemTotal and MemFree"));
            }
        }
        Ok(())
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
