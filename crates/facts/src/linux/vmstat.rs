//! /proc/vmstat: counters of the memory management, those that the views need. Since 2.6.

use super::keyed::keyed;
use crate::cursor::Malformed;

keyed! {
    /// /proc/vmstat. Counters since boot, in pages or events.
    VmStat,
    /// A line of /proc/vmstat.
    VmStatField {
        /// Pages, not kilobytes as the two that follow it.
        MiscReclaimable = "nr_kernel_misc_reclaimable",
        /// Kibibytes read from block devices.
        PageIn = "pgpgin",
        /// Kibibytes written to block devices.
        PageOut = "pgpgout",
        SwapIn = "pswpin",
        SwapOut = "pswpout",
        PageFault = "pgfault",
        MajorFault = "pgmajfault",
        ScanKswapd = "pgscan_kswapd",
        ScanDirect = "pgscan_direct",
        StealKswapd = "pgsteal_kswapd",
        StealDirect = "pgsteal_direct",
        /// Pages of files that were reclaimed and are read again. Since 5.9; before, `workingset_refault` counted others as well.
        RefaultFile = "workingset_refault_file",
        /// Since 4.13.
        OomKill = "oom_kill",
        CompactStall = "compact_stall",
    }
}

impl VmStat {
    /// Fills from the bytes of /proc/vmstat.
    ///
    /// # Errors
    /// If a known line holds no number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.fill(bytes, None)
    }
}
