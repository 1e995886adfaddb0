//! A sample again, from the values that its rows had: for views of the past. Values become the kernel's texts and are read as these are,
//! so that what follows from them (which disk is whole, what is available) is found in one place.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::linux::mounts::Mount;
use crate::linux::net_attributes::{Link, LinkKind, OperationalState};
use crate::name::Name;
use crate::sample::{Clock, Filesystem, Reading, Sample, Space};
use crate::source::Source;
use crate::unit::Bytes;

/// The sources that come back, as far as the catalogue has rows of them.
pub const RESTORED: [Source; 11] = [
    Source::LinkState,
    Source::Stat,
    Source::MemInfo,
    Source::LoadAverage,
    Source::Uptime,
    Source::NetDev,
    Source::DiskStats,
    Source::PressureCpu,
    Source::PressureIo,
    Source::PressureMemory,
    Source::Filesystems,
];

/// The states of a CPU, in the order of /proc/stat.
const MODES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
/// The figures of an interface, with their places in /proc/net/dev.
const INTERFACE: [(&str, usize); 8] = [
    ("node_network_receive_bytes_total", 0),
    ("node_network_receive_packets_total", 1),
    ("node_network_receive_errs_total", 2),
    ("node_network_receive_drop_total", 3),
    ("node_network_transmit_bytes_total", 8),
    ("node_network_transmit_packets_total", 9),
    ("node_network_transmit_errs_total", 10),
    ("node_network_transmit_drop_total", 11),
];
/// The figures of a disk, with their places in /proc/diskstats and how many of these one is.
const DISK: [(&str, usize, f64); 10] = [
    ("node_disk_reads_completed_total", 0, 1.0),
    ("node_disk_read_bytes_total", 2, 1.0 / 512.0),
    ("node_disk_read_time_seconds_total", 3, 1e3),
    ("node_disk_writes_completed_total", 4, 1.0),
    ("node_disk_written_bytes_total", 6, 1.0 / 512.0),
    ("node_disk_write_time_seconds_total", 7, 1e3),
    ("node_disk_io_now", 8, 1.0),
    ("node_disk_io_time_seconds_total", 9, 1e3),
    ("node_disk_discards_completed_total", 11, 1.0),
    ("node_disk_flush_requests_total", 15, 1.0),
];
const PRESSURES: [&str; 3] = ["cpu", "io", "memory"];
const WINDOWS: [&str; 3] = ["10s", "60s", "300s"];

/// Time stalled: shares of the last 10, 60 and 300 seconds in per cent, and seconds in all.
#[derive(Clone, Copy, Debug, Default)]
struct StallValues {
    percents: [f64; 3],
    total_s: f64,
    is_there: bool,
}

/// Values that become a sample.
#[derive(Debug, Default)]
pub struct Restoration {
    memory: String,
    cpus: BTreeMap<u32, [f64; 8]>,
    load: [Option<f64>; 3],
    uptime_s: Option<f64>,
    interfaces: BTreeMap<String, [f64; 16]>,
    disks: BTreeMap<String, [Option<f64>; 16]>,
    /// The stalls of some and of all tasks, for each source.
    stalls: [[StallValues; 2]; 3],
    filesystems: BTreeMap<[String; 3], Space>,
    links: Vec<Link>,
}

impl Restoration {
    /// Adds a value of a row by its name; `label` says the value of a label. Rows of other sources are passed over.
    pub fn put<'l>(&mut self, metric: &str, label: impl Fn(&str) -> &'l str, value: f64) {
        let device = || label("device").to_owned();
        match metric {
            "node_cpu_seconds_total" => {
                let mode = MODES.iter().position(|mode| *mode == label("mode"));
                if let (Ok(number), Some(mode)) = (label("cpu").parse(), mode) {
                    // Ticks of a hundredth of a second.
                    self.cpus.entry(number).or_default()[mode] = value * 100.0;
                }
            }
            "node_load1" => self.load[0] = Some(value),
            "node_load5" => self.load[1] = Some(value),
            "node_load15" => self.load[2] = Some(value),
            "whit_network_up" => {
                let name = device();
                // The kind is not recorded, but for the one that has always the same name.
                let kind = if name == "lo" { LinkKind::Loopback } else { LinkKind::default() };
                let state = if value > 0.0 { OperationalState::Up } else { OperationalState::Down };
                self.links.push(Link { name: Name::new(name.as_bytes()), kind, state, ..Link::default() });
            }
            "whit_uptime_seconds" => self.uptime_s = Some(value),
            _ => {
                if let Some(field) =
                    metric.strip_prefix("node_memory_").and_then(|name| name.strip_suffix("_bytes"))
                {
                    self.put_memory(field, value);
                } else if let Some((_, place)) = INTERFACE.iter().find(|(name, _)| *name == metric) {
                    self.interfaces.entry(device()).or_default()[*place] = value;
                } else if let Some((_, place, factor)) = DISK.iter().find(|(name, ..)| *name == metric) {
                    self.disks.entry(device()).or_default()[*place] = Some(value * factor);
                } else if let Some(name) = metric.strip_prefix("node_filesystem_") {
                    let key = ["device", "fstype", "mountpoint"].map(|name| label(name).to_owned());
                    put_space(self.filesystems.entry(key).or_default(), name, value);
                } else {
                    self.put_pressure(metric, label("window"), value);
                }
            }
        }
    }

    /// `Active_anon` is `Active(anon)` in /proc/meminfo.
    fn put_memory(&mut self, field: &str, value: f64) {
        let name = match field.strip_suffix("_anon").map(|name| (name, "(anon)")) {
            Some((name, kind)) => format!("{name}{kind}"),
            None => field.strip_suffix("_file").map_or(field.to_owned(), |name| format!("{name}(file)")),
        };
        // A text takes whatever is written to it.
        let _ = writeln!(self.memory, "{name}: {} kB", whole(value / 1024.0));
    }

    fn put_pressure(&mut self, metric: &str, window: &str, value: f64) {
        let Some((_, rest)) = metric.split_once("_pressure_") else { return };
        for (name, stalls) in PRESSURES.iter().zip(&mut self.stalls) {
            let Some(rest) = rest.strip_prefix(name).and_then(|rest| rest.strip_prefix('_')) else {
                continue;
            };
            let (kind, unit) = rest.split_once('_').unwrap_or((rest, ""));
            let stall = &mut stalls[usize::from(kind == "stalled")];
            match (unit, WINDOWS.iter().position(|known| *known == window)) {
                ("seconds_total", _) => (stall.total_s, stall.is_there) = (value, true),
                ("ratio", Some(place)) => stall.percents[place] = value * 100.0,
                _ => {}
            }
        }
    }

    /// The sample. What no value was of is absent.
    pub fn finish(self, clock: Clock) -> Sample {
        let mut sample = Sample { clock, ..Sample::default() };
        if !self.memory.is_empty() {
            parse(&mut sample.memory, |memory| memory.parse(self.memory.as_bytes()).is_ok());
        }
        if !self.cpus.is_empty() {
            let text = self.stat();
            parse(&mut sample.stat, |stat| stat.parse(text.as_bytes()).is_ok());
        }
        if let [Some(one), Some(five), Some(fifteen)] = self.load {
            let text = format!("{one:.2} {five:.2} {fifteen:.2} 0/0 0\n");
            parse(&mut sample.load, |load| load.parse(text.as_bytes()).is_ok());
        }
        if let Some(uptime_s) = self.uptime_s {
            let text = format!("{uptime_s:.2} 0.00\n");
            parse(&mut sample.uptime, |uptime| uptime.parse(text.as_bytes()).is_ok());
        }
        if !self.interfaces.is_empty() {
            let text = self.net_dev();
            parse(&mut sample.net_dev, |net_dev| net_dev.parse(text.as_bytes()).is_ok());
        }
        if !self.disks.is_empty() {
            let text = self.diskstats();
            parse(&mut sample.diskstats, |diskstats| diskstats.parse(text.as_bytes()).is_ok());
        }
        let pressures = &mut sample.pressure;
        for (stalls, reading) in
            self.stalls.iter().zip([&mut pressures.cpu, &mut pressures.io, &mut pressures.memory])
        {
            let text = pressure(stalls);
            if !text.is_empty() {
                parse(reading, |pressure| pressure.parse(text.as_bytes()).is_ok());
            }
        }
        if !self.links.is_empty() {
            sample.links.set(self.links);
        }
        if !self.filesystems.is_empty() {
            sample.filesystems.set(self.filesystems.into_iter().map(filesystem).collect());
        }
        sample
    }

    fn stat(&self) -> String {
        let line = |name: &str, ticks: &[f64; 8]| {
            let ticks = ticks.map(|ticks| format!(" {}", whole(ticks)));
            format!("{name} {}\n", ticks.concat())
        };
        let total: [f64; 8] = std::array::from_fn(|mode| self.cpus.values().map(|ticks| ticks[mode]).sum());
        let mut text = line("cpu", &total);
        for (number, ticks) in &self.cpus {
            text.push_str(&line(&format!("cpu{number}"), ticks));
        }
        text
    }

    fn net_dev(&self) -> String {
        let mut text = String::from("Inter-| Receive\n face |bytes\n");
        for (name, figures) in &self.interfaces {
            let figures = figures.map(|figure| format!(" {}", whole(figure)));
            let _ = writeln!(text, "{name}:{}", figures.concat());
        }
        text
    }

    fn diskstats(&self) -> String {
        let mut text = String::new();
        for (name, figures) in &self.disks {
            // What the kernel does not print stands at the end.
            let last = figures.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            let figures = figures[..last].iter().map(|figure| format!(" {}", whole(figure.unwrap_or(0.0))));
            let _ = writeln!(text, "0 0 {name}{}", figures.collect::<String>());
        }
        text
    }
}

fn parse<T>(reading: &mut Reading<T>, parse: impl FnOnce(&mut T) -> bool) {
    reading.fill(|value| if parse(value) { Ok(()) } else { Err(crate::sample::Absence::Malformed) });
}

fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn pressure(stalls: &[StallValues; 2]) -> String {
    let mut text = String::new();
    for (name, stall) in ["some", "full"].into_iter().zip(stalls).filter(|(_, stall)| stall.is_there) {
        let [ten, sixty, all] = stall.percents;
        let total_us = whole(stall.total_s * 1e6);
        let _ = writeln!(text, "{name} avg10={ten:.2} avg60={sixty:.2} avg300={all:.2} total={total_us}");
    }
    text
}

fn put_space(space: &mut Space, name: &str, value: f64) {
    match name {
        "size_bytes" => space.total = Bytes(whole(value)),
        "free_bytes" => space.free = Bytes(whole(value)),
        "avail_bytes" => space.available = Bytes(whole(value)),
        "files" => space.inodes = whole(value),
        "files_free" => space.free_inodes = whole(value),
        "readonly" => space.is_read_only = Some(value != 0.0),
        _ => {}
    }
}

fn filesystem((key, space): ([String; 3], Space)) -> Filesystem {
    let [source, filesystem, target] = key.map(String::into_bytes);
    let mount = Mount { source, filesystem, target, ..Mount::default() };
    Filesystem { mount, space: Some(space), is_stale: false, is_mount_point: true }
}
