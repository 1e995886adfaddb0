//! /proc/zoneinfo: watermarks and reserves of each memory zone, in pages. Since 2.6.13.

use crate::cursor::{Cursor, Malformed, lines};

/// The figures of all zones that MemAvailable needs, summed, in pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneInfo {
    /// The low watermarks.
    pub low_pages: u64,
    /// The pages that the kernel keeps back: for each zone the highest of its lowmem reserves (`protection`) plus its high
    /// watermark, but no more than the zone manages (calculate_totalreserve_pages in mm/page_alloc.c). The watermark is that
    /// without the boost after fragmentation, which the file contains in each watermark: the kernel does not calculate the
    /// reserve again for it.
    pub total_reserve_pages: u64,
    /// Zones seen.
    pub zones: u32,
}

#[derive(Default)]
struct Zone {
    low_pages: u64,
    high_pages: u64,
    boost_pages: u64,
    protection_pages: u64,
    present_pages: Option<u64>,
    managed_pages: Option<u64>,
}

impl ZoneInfo {
    /// Fills from the bytes of /proc/zoneinfo.
    ///
    /// # Errors
    /// If no zone stands in it, or a watermark is not a number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        let mut zone = None;
        // "high" stands once more for each CPU's page set; those come after "pagesets".
        let mut in_pagesets = false;
        for mut line in lines(bytes) {
            if line.skip(b"Node ") {
                self.add(zone.replace(Zone::default()));
                in_pagesets = false;
                continue;
            }
            let Some(zone) = zone.as_mut().filter(|_| !in_pagesets) else { continue };
            line.skip_blanks();
            let target = match line.word() {
                Some(b"low") => &mut zone.low_pages,
                Some(b"high") => &mut zone.high_pages,
                Some(b"boost") => &mut zone.boost_pages,
                Some(b"present") => zone.present_pages.insert(0),
                Some(b"managed") => zone.managed_pages.insert(0),
                Some(b"protection:") => {
                    zone.protection_pages = highest_reserve(&mut line);
                    continue;
                }
                Some(b"pagesets") => {
                    in_pagesets = true;
                    continue;
                }
                _ => continue,
            };
            *target = line.number().ok_or_else(|| line.expected("a number of pages"))?;
        }
        self.add(zone);
        if self.zones == 0 { Err(Cursor::new(bytes).expected("a zone")) } else { Ok(()) }
    }

    fn add(&mut self, zone: Option<Zone>) {
        let Some(zone) = zone else { return };
        // Before 3.10 there is no "managed"; what is present is the nearest then.
        let managed_pages = zone.managed_pages.or(zone.present_pages).unwrap_or(u64::MAX);
        let high_pages = zone.high_pages.saturating_sub(zone.boost_pages);
        let reserve_pages = zone.protection_pages.saturating_add(high_pages).min(managed_pages);
        self.low_pages = self.low_pages.saturating_add(zone.low_pages);
        self.total_reserve_pages = self.total_reserve_pages.saturating_add(reserve_pages);
        self.zones += 1;
    }
}

/// The highest of "(0, 3019, 4171)".
fn highest_reserve(line: &mut Cursor<'_>) -> u64 {
    let mut highest = 0;
    line.skip_blanks();
    line.skip(b"(");
    while let Some(pages) = line.number() {
        highest = highest.max(pages);
        line.skip(b",");
    }
    highest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_are_capped_by_what_a_zone_manages_and_page_sets_are_passed_over() {
        let text = b"Node 0, zone DMA\n  pages free 3840\n        low 75\n        high 90\n        present 3998\n        \
            managed 100\n        protection: (0, 3019, 4171)\n  pagesets\n    cpu: 0\n              high: 7\n\
            Node 0, zone Normal\n  pages free 1\n        low 10\n        high 20\n        present 500\n  pagesets\n";
        let mut zones = ZoneInfo::default();
        zones.parse(text).unwrap();
        assert_eq!(zones, ZoneInfo { low_pages: 85, total_reserve_pages: 120, zones: 2 });
    }

    #[test]
    fn a_boost_is_not_a_part_of_the_reserve() {
        let text = b"Node 0, zone Normal\n  pages free 1\n        boost 38335\n        min 53104\n        low 58498\n        \
            high 63892\n        managed 5394000\n        protection: (0, 0)\n  pagesets\n";
        let mut zones = ZoneInfo::default();
        zones.parse(text).unwrap();
        assert_eq!(zones, ZoneInfo { low_pages: 58_498, total_reserve_pages: 63_892 - 38_335, zones: 1 });
    }

    #[test]
    fn an_empty_file_is_no_zero() {
        assert!(ZoneInfo::default().parse(b"").is_err());
    }
}
