//! /proc/diskstats: requests of each block device. Kernel: Documentation/admin-guide/iostats.rst.

use crate::cursor::{Malformed, lines};
use crate::name::Name;

/// Bytes in a sector here, whatever the device's own.
pub const SECTOR_BYTES: u64 = 512;

/// Requests of one block device or partition since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Major and minor device number.
    pub device: (u32, u32),
    /// `sda`, `nvme0n1p2`.
    pub name: Name,
    /// Reads completed.
    pub reads: u64,
    /// Sectors read.
    pub read_sectors: u64,
    /// Time the reads took, summed; 32 bits wide on old kernels.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Sectors written.
    pub written_sectors: u64,
    /// Time the writes took, summed.
    pub write_ms: u64,
    /// Requests under way; a level, not a counter.
    pub in_flight: u64,
    /// Time during which a request was under way.
    pub busy_ms: u64,
    /// Discards completed. Since 4.18.
    pub discards: Option<u64>,
    /// Flushes completed. Since 5.5.
    pub flushes: Option<u64>,
}

impl Disk {
    /// Whether it is a device of its own: no partition, and none that only passes on to others (loop, device mapper, md,
    /// zram, RAM disk), whose requests would count twice.
    pub fn is_whole(&self) -> bool {
        let name = self.name.as_bytes();
        const PASSING_ON: [&[u8]; 6] = [b"loop", b"dm-", b"md", b"ram", b"zram", b"sr"];
        if PASSING_ON.iter().any(|start| name.starts_with(start)) {
            return false;
        }
        let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let stem = &name[..name.len() - digits];
        // nvme0n1p2 and mmcblk0p1 are parts of nvme0n1 and mmcblk0, and sda1 of sda.
        let is_numbered_part = matches!(stem, [.., b'0'..=b'9', b'p']);
        let is_lettered = [&b"sd"[..], b"vd", b"xvd", b"hd"].iter().any(|start| name.starts_with(start));
        digits == 0 || !(is_numbered_part || is_lettered)
    }
}

/// /proc/diskstats.
#[derive(Clone, Debug, Default)]
pub struct DiskStats {
    /// Devices and partitions, in the kernel's order.
    pub disks: Vec<Disk>,
}

impl DiskStats {
    /// Fills from the bytes of /proc/diskstats. Partitions of kernels before 2.6.25, which print four figures only,
    /// are passed over.
    ///
    /// # Errors
    /// Where a line does not start with a device.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.disks.clear();
        for mut line in lines(bytes) {
            let mut number = || line.number().and_then(|number| u32::try_from(number).ok());
            let (Some(major), Some(minor)) = (number(), number()) else {
                return Err(line.expected("a device's numbers"));
            };
            let name = Name::new(line.word().ok_or_else(|| line.expected("a device's name"))?);
            let mut figures = [None; 16];
            for figure in &mut figures {
                *figure = line.number();
            }
            let Some(busy_ms) = figures[9] else { continue };
            let counter = |index: usize| figures[index].unwrap_or(0);
            self.disks.push(Disk {
                device: (major, minor),
                name,
                reads: counter(0),
                read_sectors: counter(2),
                read_ms: counter(3),
                writes: counter(4),
                written_sectors: counter(6),
                write_ms: counter(7),
                in_flight: counter(8),
                busy_ms,
                discards: figures[11],
                flushes: figures[15],
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_disks_are_told_from_their_parts() {
        let is_whole = |name: &str| Disk { name: Name::new(name.as_bytes()), ..Disk::default() }.is_whole();
        for name in ["sda", "nvme0n1", "mmcblk0", "vdb", "nbd0", "dasda"] {
            assert!(is_whole(name), "{name}");
        }
        for name in ["sda1", "nvme0n1p2", "mmcblk0p1", "vda15", "loop0", "dm-3", "md127", "zram0", "nbd0p1"] {
            assert!(!is_whole(name), "{name}");
        }
    }

    #[test]
    fn eleven_fifteen_and_seventeen_figures() {
        let text = b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n 8 1 sda1 1 2 3 4\n\
            259 0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
        let mut disks = DiskStats::default();
        disks.parse(text).unwrap();
        assert_eq!(disks.disks.len(), 2);
        assert_eq!((disks.disks[0].busy_ms, disks.disks[0].discards), (10, None));
        assert_eq!((disks.disks[1].discards, disks.disks[1].flushes), (Some(12), Some(16)));
    }
}
