//! The table of `whit free`.

use facts::linux::meminfo::{MemInfo, MemInfoField as Field};
use facts::linux::pressure::Stall;
use facts::memory::{AvailableSource, MemoryBreakdown, MemoryReport};
use facts::unit::{Bytes, Ratio};

use text::ABSENT;
use text::table::{Align, Table};
use text::units::{ByteUnit, Size};

/// The layout: what to show and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLayout {
    pub(crate) unit: ByteUnit,
    pub(crate) in_percent: bool,
    pub(crate) is_wide: bool,
    pub(crate) with_extended: bool,
    pub(crate) with_total: bool,
    pub(crate) with_low_high: bool,
    pub(crate) with_committed: bool,
    pub(crate) is_one_line: bool,
}

/// Writes the report.
pub(crate) fn write(report: &MemoryReport, layout: MemoryLayout, out: &mut String) {
    if layout.is_one_line {
        write_one_line(report, layout.unit, out);
        return;
    }
    write_table(report, layout, out);
    write_apart(report, out);
    if layout.with_extended {
        write_extended(report, layout, out);
    }
}

/// Sizes in the unit, or shares of a total.
struct Cells {
    layout: MemoryLayout,
    total: Bytes,
}

impl Cells {
    fn size(&self, bytes: Bytes) -> String {
        self.signed(i64::try_from(bytes.0).unwrap_or(i64::MAX))
    }

    fn signed(&self, bytes: i64) -> String {
        if !self.layout.in_percent {
            return self.layout.unit.format_signed(bytes);
        }
        let share = Ratio::of(bytes.unsigned_abs(), self.total.0).map_or(0.0, Ratio::percent).round();
        let sign = if bytes < 0 && share > 0.0 { "-" } else { "" };
        format!("{sign}{share:.0}%")
    }
}

fn write_table(report: &MemoryReport, layout: MemoryLayout, out: &mut String) {
    let parts = &report.breakdown;
    let cells = Cells { layout, total: parts.total };
    let unit = layout.unit;
    let is_own = report.available.is_none_or(|available| available.source == AvailableSource::Kernel);
    let caches: &[&str] = if layout.is_wide { &["buffers", "files", "slab"] } else { &["caches"] };
    let headings = ["", "total", "used", "free", "anonymous", "kernel"]
        .iter()
        .chain(caches)
        .chain([&"others", if is_own { &"available" } else { &"available*" }]);
    let align = |heading: &str| if heading.is_empty() { Align::Left } else { Align::Right };
    let columns: Vec<_> = headings.map(|heading| (*heading, align(heading))).collect();
    let mut table = Table::new(&columns).with_minimum_width(9);

    let used = report.used().map_or(ABSENT.to_owned(), |used| cells.size(used));
    let mut row = vec!["Mem:".to_owned(), unit.format(parts.total), used, cells.size(parts.free)];
    row.extend([parts.anonymous, parts.kernel].map(|bytes| cells.size(bytes)));
    if layout.is_wide {
        row.extend(
            [parts.caches.buffers, parts.caches.files, parts.caches.slab].map(|bytes| cells.size(bytes)),
        );
    } else {
        row.push(cells.size(parts.caches.total()));
    }
    row.push(cells.signed(parts.others_bytes));
    row.push(report.available.map_or(ABSENT.to_owned(), |available| cells.size(available.bytes)));
    table.row(row);

    let with_caches = cells.size(parts.free + parts.caches.total());
    table.row(["  + caches".to_owned(), String::new(), String::new(), with_caches]);
    if layout.with_low_high {
        write_low_high(report, &cells, &mut table);
    }
    let three = |name: &str, total: Bytes, used: Bytes, free: Bytes| {
        let cells = Cells { layout, total };
        vec![name.to_owned(), unit.format(total), cells.size(used), cells.size(free)]
    };
    match report.swap {
        Some(swap) => table.row(three("Swap:", swap.total, swap.used, swap.free)),
        None => table.row(["Swap:", ABSENT, ABSENT, ABSENT]),
    }
    if layout.with_total {
        let swap = report.swap.unwrap_or_default();
        let total = parts.total + swap.total;
        let mut row = three("Total:", total, Bytes(0), parts.free + swap.free);
        let used = report.used().map(|used| Cells { layout, total }.size(used + swap.used));
        row[2] = used.unwrap_or(ABSENT.to_owned());
        table.row(row);
    }
    if layout.with_committed {
        match report.commitment() {
            Some((limit, committed)) => {
                table.row(three("Comm:", limit, committed, limit.saturating_sub(committed)));
            }
            None => table.row(["Comm:", ABSENT, ABSENT, ABSENT]),
        }
    }
    if let Some(limit) = &report.limit {
        let cells = Cells { layout, total: limit.limit };
        let mut row = three("Limit:", limit.limit, limit.used, limit.free);
        row.extend([String::new(), String::new()]);
        row.extend(layout.is_wide.then(String::new));
        row.push(cells.size(limit.caches));
        row.extend(layout.is_wide.then(String::new));
        row.extend([String::new(), cells.size(limit.available)]);
        table.row(row);
    }
    table.write(out);
}

/// 64-bit kernels have no high memory: all is low, as `free -l` shows it too.
fn write_low_high(report: &MemoryReport, cells: &Cells, table: &mut Table) {
    let MemoryBreakdown { total, free, .. } = report.breakdown;
    let get = |field| report.meminfo.bytes(field);
    let low = get(Field::LowTotal).zip(get(Field::LowFree)).unwrap_or((total, free));
    let high = get(Field::HighTotal).zip(get(Field::HighFree)).unwrap_or_default();
    for (name, (total, free)) in [("Low:", low), ("High:", high)] {
        // What is available is known of all memory alone.
        table.row([name.to_owned(), cells.layout.unit.format(total), String::new(), cells.size(free)]);
    }
}

/// Writes what the columns do not contain: where "available" comes from, the known parts of "others", and pressure.
fn write_apart(report: &MemoryReport, out: &mut String) {
    match report.available.map(|available| available.source) {
        Some(AvailableSource::Kernel) => {}
        Some(AvailableSource::Emulated) => {
            out.push_str("* by the kernel's formula from meminfo and zoneinfo\n")
        }
        Some(AvailableSource::Estimated) => {
            out.push_str(
                "* an estimate: without /proc/zoneinfo the watermarks are a guess from min_free_kbytes\n",
            );
        }
        None => out.push_str("available: this kernel's meminfo lacks what the formula needs\n"),
    }
    let mut apart = Vec::new();
    if let Some(huge) = report.huge_pages {
        apart.push(format!("huge pages {} (of those free {})", Size(huge.total), Size(huge.free)));
    }
    if let Some(arc) = report.arc {
        let gives = arc.size.saturating_sub(arc.minimum);
        apart.push(format!("ZFS ARC {} (of those given back {})", Size(arc.size), Size(gives)));
    }
    if let Some(zram) = report.zram {
        apart.push(format!("zram {} (holding {})", Size(zram.used), Size(zram.original)));
    }
    if !apart.is_empty() {
        out.push_str(&format!("Of others: {}\n", apart.join(", ")));
    }
    if let Some(pressure) = report.pressure {
        let stall = |name: &str, stall: Option<Stall>| {
            stall.map(|stall| {
                let [ten, sixty, three_hundred] = stall.averages_percent();
                format!("{name} {ten:.2} {sixty:.2} {three_hundred:.2}")
            })
        };
        let stalls: Vec<_> =
            [stall("some", pressure.some), stall("full", pressure.full)].into_iter().flatten().collect();
        out.push_str(&format!("Pressure: {} (% of 10, 60, 300 s)\n", stalls.join(", ")));
    }
}

/// Mlocked pages lie on the unevictable list: they are part of its figure.
/// As people read it, as JSON has it, and of what it is the sum.
const EXTENDED: [(&str, &str, &[Field]); 10] = [
    ("Buffers", "buffers_bytes", &[Field::Buffers]),
    ("Cached", "cached_bytes", &[Field::Cached]),
    ("SwapCached", "swap_cached_bytes", &[Field::SwapCached]),
    ("Shmem", "shmem_bytes", &[Field::Shmem]),
    ("AnonPages", "anon_pages_bytes", &[Field::AnonPages]),
    ("Mapped", "mapped_bytes", &[Field::Mapped]),
    ("Unevictable", "unevictable_bytes", &[Field::Unevictable]),
    ("Mlocked", "mlocked_bytes", &[Field::Mlocked]),
    ("Dirty+Writeback", "dirty_and_writeback_bytes", &[Field::Dirty, Field::Writeback]),
    ("NFS+Bounce", "nfs_and_bounce_bytes", &[Field::NfsUnstable, Field::Bounce]),
];

/// A figure of the extended list: `None` if the kernel prints none of its fields.
pub(crate) fn extended(
    meminfo: &MemInfo,
) -> impl Iterator<Item = (&'static str, &'static str, Option<Bytes>)> {
    EXTENDED.iter().map(|(name, key, fields)| {
        let any = fields.iter().any(|field| meminfo.get(*field).is_some());
        (*name, *key, any.then(|| meminfo.sum(fields)))
    })
}

fn write_extended(report: &MemoryReport, layout: MemoryLayout, out: &mut String) {
    let cells = Cells { layout, total: report.breakdown.total };
    out.push_str("\nExtended memory usage info:\n");
    for (name, _, bytes) in extended(&report.meminfo) {
        let cell = bytes.map_or(ABSENT.to_owned(), |bytes| cells.size(bytes));
        out.push_str(&format!("  {name:<15} {cell:>12}\n"));
    }
}

/// The four figures of `free -L`.
fn write_one_line(report: &MemoryReport, unit: ByteUnit, out: &mut String) {
    let parts = &report.breakdown;
    let figures = [
        ("SwapUse", report.swap.map(|swap| swap.used)),
        ("CachUse", Some(parts.caches.total())),
        ("MemUse", report.used()),
        ("MemFree", Some(parts.free)),
    ];
    let cell = |bytes: Option<Bytes>| bytes.map_or(ABSENT.to_owned(), |bytes| unit.format(bytes));
    let figures: Vec<_> =
        figures.iter().map(|(name, bytes)| format!("{name:<7} {:>11}", cell(*bytes))).collect();
    out.push_str(&figures.join(" "));
    out.push('\n');
}
