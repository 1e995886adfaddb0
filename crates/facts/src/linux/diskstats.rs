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
    /// It is a device of its own: no partition, and none that only passes requests on to others.
    pub is_whole: bool,
}

/// How the names of devices begin whose requests are passed on to others and would count twice, or that have no disk behind them.
const PASSING_ON: [&[u8]; 9] = [b"loop", b"dm-", b"md", b"ram", b"zram", b"sr", b"drbd", b"bcache", b"zd"];

/// Returns true if `name` is a partition of `disk`, as the kernel names them: sda1 of sda, nvme0n1p2 of nvme0n1.
fn is_partition(name: &[u8], disk: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(disk).filter(|_| !disk.is_empty()) else { return false };
    let number =
        if disk.last().is_some_and(u8::is_ascii_digit) { rest.strip_prefix(b"p") } else { Some(rest) };
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
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
    /// If a line does not start with a device.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.disks.clear();
        // The kernel prints a disk's partitions behind it.
        let mut disk = Name::default();
        for mut line in lines(bytes) {
            let mut number = || line.number().and_then(|number| u32::try_from(number).ok());
            let (Some(major), Some(minor)) = (number(), number()) else {
                return Err(line.expected("a device's numbers"));
            };
            let name = Name::new(line.word().ok_or_else(|| line.expected("a device's name"))?);
            let is_part = is_partition(name.as_bytes(), disk.as_bytes());
            if !is_part {
                disk = name;
            }
            let is_whole = !is_part && !PASSING_ON.iter().any(|start| name.as_bytes().starts_with(start));
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
                is_whole,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_disks_are_distinguished_from_partitions() {
        let whole =
            ["sda", "sdaa", "nvme0n1", "nvme0n10", "mmcblk0", "vdb", "nbd0", "dasda", "c0d0", "xvda1"];
        let others = ["loop0", "dm-3", "md127", "md127p1", "zram0", "drbd0", "bcache0", "zd0", "sr0"];
        let parts = |disk: &str| match disk {
            "sda" => vec!["sda1", "sda15"],
            "nvme0n1" => vec!["nvme0n1p2"],
            "nvme0n10" => vec!["nvme0n10p1"],
            "mmcblk0" => vec!["mmcblk0p1"],
            "nbd0" => vec!["nbd0p1"],
            "dasda" => vec!["dasda1"],
            _ => vec![],
        };
        let names = whole.iter().chain(&others).flat_map(|name| [vec![*name], parts(name)].concat());
        let text: String = names.map(|name| format!("8 0 {name} 1 2 3 4 5 6 7 8 9 10 11\n")).collect();
        let mut stats = DiskStats::default();
        stats.parse(text.as_bytes()).unwrap();
        let found: Vec<_> =
            stats.disks.iter().filter(|disk| disk.is_whole).map(|disk| disk.name.as_str()).collect();
        assert_eq!(found, whole);
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
