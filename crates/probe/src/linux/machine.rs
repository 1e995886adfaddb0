//! The machine behind a [`Probe`](crate::probe::Probe): the sources that were requested, open.
//!
//! A tick touches only what was requested: the files in one list, everything else as [`Part`]s in another.

mod devices;
mod links;
mod sensors;

use facts::linux::arcstats::ArcStats;
use facts::linux::diskstats::DiskStats;
use facts::linux::loadavg::LoadAverage;
use facts::linux::meminfo::MemInfo;
use facts::linux::net_dev::NetDev;
use facts::linux::net_protocols::NetProtocols;
use facts::linux::pressure::Pressure;
use facts::linux::stat::Stat;
use facts::linux::uptime::Uptime;
use facts::linux::vmstat::VmStat;
use facts::linux::zoneinfo::ZoneInfo;
use facts::sample::{Clock, Sample};
use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use rustix::fd::{AsFd, BorrowedFd};

use super::addresses::{Addresses, NetworkNews};
use super::cgroup::{CgroupFiles, QuotaFiles};
use super::files::{Buffer, Extent, KeptFile};
use super::filesystems::Filesystems;
#[cfg(feature = "limited-cgroups")]
use super::limited_cgroups::LimitedCgroups;
use super::part::{Changes, Part};
use super::wireless::Wireless;
use crate::clock::clock_now;
use crate::request::Request;
use crate::roots::{MachineDirectory, RootError, Roots};
use devices::{Backlights, Frequencies, PowerSupplies, ZramDevices};
use links::Links;
use sensors::Sensors;

/// The interval at which directories and mounts are searched for what came or went.
const RESCAN_INTERVAL: Nanos = Nanos(10_000_000_000);

/// A file of /proc that fills one part of a sample.
struct FileSource {
    source: Source,
    path: &'static str,
    extent: Extent,
    fill: Fill,
}

/// Reads a file into its part of a sample.
type Fill = fn(&KeptFile, &mut Buffer, &mut Sample);

/// A row of [`FILES`]: the source, its file, how the kernel makes that, the part of the sample, and the parser.
macro_rules! file {
    ($source:ident, $path:literal, $extent:ident, $($part:ident).+, $parse:path) => {
        FileSource {
            source: Source::$source,
            path: $path,
            extent: Extent::$extent,
            fill: |file, buffer, sample| file.fill(buffer, &mut sample.$($part).+, $parse),
        }
    };
}

/// In the order in which they are read.
const FILES: [FileSource; 18] = [
    file!(Stat, "proc/stat", Whole, stat, Stat::parse),
    file!(CpuTotal, "proc/stat", Whole, stat, Stat::parse_total),
    file!(ZoneInfo, "proc/zoneinfo", Records, zones, ZoneInfo::parse),
    file!(VmStat, "proc/vmstat", Lines, vmstat, VmStat::parse),
    file!(LoadAverage, "proc/loadavg", Whole, load, LoadAverage::parse),
    file!(Uptime, "proc/uptime", Whole, uptime, Uptime::parse),
    file!(NetDev, "proc/net/dev", Lines, net_dev, NetDev::parse),
    file!(NetProtocols, "proc/net/snmp", Whole, net_protocols.snmp, NetProtocols::parse),
    file!(NetProtocols, "proc/net/snmp6", Whole, net_protocols.snmp6, NetProtocols::parse_ipv6),
    file!(NetProtocols, "proc/net/netstat", Whole, net_protocols.netstat, NetProtocols::parse),
    file!(DiskStats, "proc/diskstats", Lines, diskstats, DiskStats::parse),
    file!(PressureCpu, "proc/pressure/cpu", Whole, pressure.cpu, Pressure::parse),
    file!(PressureIo, "proc/pressure/io", Whole, pressure.io, Pressure::parse),
    file!(PressureMemory, "proc/pressure/memory", Whole, pressure.memory, Pressure::parse),
    file!(PressureIrq, "proc/pressure/irq", Whole, pressure.irq, Pressure::parse),
    file!(ArcStats, "proc/spl/kstat/zfs/arcstats", Lines, arc, ArcStats::parse),
    file!(MemInfo, "proc/meminfo", Whole, memory, MemInfo::parse),
    file!(AvailableMemory, "proc/meminfo", Whole, memory, MemInfo::parse_available),
];

/// Kept descriptors of one machine.
#[derive(Debug)]
pub(crate) struct Machine {
    buffer: Buffer,
    files: Vec<(KeptFile, Fill)>,
    parts: Vec<Box<dyn Part>>,
    filesystems: Option<Filesystems>,
    captured_clock: Option<Box<CapturedClock>>,
    news: Option<NetworkNews>,
    last_rescan: Option<Nanos>,
    /// The number of interfaces at the last tick.
    interfaces: usize,
    /// A view waits until [`news`](Self::news) is readable, and then calls [`drain_events`](Self::drain_events).
    is_watched: bool,
    /// The network may have changed since the last tick.
    has_news: bool,
}

impl Machine {
    pub(crate) fn open(roots: &Roots, request: &Request) -> Result<Self, RootError> {
        let root = roots.open()?;
        let wanted = request.wanted;
        let mut buffer = Buffer::new();
        let parts = open_parts(&root, wanted, &mut buffer);
        let filesystems = wanted
            .has(Source::Filesystems)
            .then(|| Filesystems::open(&root, &request.filesystems, request.notifier.clone()));
        let shows_network = wanted.has_any([Source::LinkState, Source::Addresses]);
        let news = (!root.is_captured() && shows_network).then(NetworkNews::open).flatten();
        let captured_clock = root.is_captured().then(|| Box::new(CapturedClock::open(&root)));
        Ok(Self {
            files: open_files(&root, wanted),
            parts,
            filesystems,
            captured_clock,
            news,
            last_rescan: None,
            interfaces: 0,
            is_watched: request.notifier.is_some(),
            has_news: true,
            buffer,
        })
    }

    pub(crate) fn system_calls(&self) -> u64 {
        self.buffer.calls
    }

    pub(crate) fn sample(&mut self, sample: &mut Sample) {
        sample.clock = match &mut self.captured_clock {
            Some(clock) => clock.read(&mut self.buffer),
            None => clock_now(),
        };
        for (file, fill) in &self.files {
            fill(file, &mut self.buffer, sample);
        }
        if self.parts.is_empty() && self.filesystems.is_none() {
            return;
        }
        // An interface that came or went is in /proc/net/dev first.
        let interfaces = sample.net_dev.get().map_or(0, |net| net.interfaces.len());
        let mut changes = Changes { network: self.take_news(), is_rescanned: false };
        let since_rescan = self.last_rescan.map(|last| sample.clock.boottime.saturating_sub(last));
        let is_due = since_rescan.is_none_or(|since| since >= RESCAN_INTERVAL);
        if is_due || (changes.network && self.news.is_some()) || interfaces != self.interfaces {
            (self.last_rescan, self.interfaces) = (Some(sample.clock.boottime), interfaces);
            self.rescan();
            changes.is_rescanned = true;
        }
        for part in &mut self.parts {
            part.read(&mut self.buffer, changes, sample);
        }
        // Interfaces without a single link: the listing was of another moment.
        if interfaces > 0 && sample.links.get().is_ok_and(Vec::is_empty) {
            self.last_rescan = None;
        }
        if let Some(filesystems) = &mut self.filesystems {
            filesystems.ask();
        }
        self.collect(sample);
    }

    /// Readable when [`drain_events`](Self::drain_events) has something to read.
    pub(crate) fn watch(&self) -> Option<BorrowedFd<'_>> {
        self.news.as_ref().filter(|_| self.is_watched).map(AsFd::as_fd)
    }

    /// Reads the changes of the network, so that the next sample reads links and addresses again.
    pub(crate) fn drain_events(&mut self) {
        self.has_news |= self.news.as_ref().is_some_and(|news| news.drain(&mut self.buffer));
    }

    /// Returns true if links or addresses may have changed since the last tick. Always true if the kernel does not report changes.
    fn take_news(&mut self) -> bool {
        if self.news.is_none() {
            return true;
        }
        if !self.is_watched {
            self.drain_events();
        }
        std::mem::take(&mut self.has_news)
    }

    /// Takes late answers of background threads, without asking again.
    pub(crate) fn collect(&mut self, sample: &mut Sample) {
        if let Some(filesystems) = &mut self.filesystems {
            filesystems.fill(&mut self.buffer, &mut sample.filesystems);
        }
    }

    #[cold]
    fn rescan(&mut self) {
        for part in &mut self.parts {
            part.rescan(&mut self.buffer);
        }
        if let Some(filesystems) = &mut self.filesystems {
            filesystems.rescan(&mut self.buffer);
        }
    }
}

fn open_files(root: &MachineDirectory, wanted: Wanted) -> Vec<(KeptFile, Fill)> {
    // The whole of a file has its first lines as well.
    let is_covered = |source| match source {
        Source::CpuTotal => wanted.has(Source::Stat),
        Source::AvailableMemory => wanted.has(Source::MemInfo),
        _ => false,
    };
    let requested = FILES.iter().filter(|file| wanted.has(file.source) && !is_covered(file.source));
    requested.map(|file| (KeptFile::open(root, file.path, file.extent), file.fill)).collect()
}

/// In the order in which they are read: wireless networks are read of the links that were found.
fn open_parts(root: &MachineDirectory, wanted: Wanted, buffer: &mut Buffer) -> Vec<Box<dyn Part>> {
    let mut parts: Vec<Box<dyn Part>> = Vec::new();
    if wanted.has(Source::Cgroup) {
        parts.push(Box::new(CgroupFiles::open(root, buffer)));
    }
    if wanted.has(Source::CpuQuota) {
        parts.push(Box::new(QuotaFiles::open(root, buffer)));
    }
    #[cfg(feature = "limited-cgroups")]
    if wanted.has(Source::LimitedCgroups) && !root.is_captured() {
        parts.push(Box::new(LimitedCgroups::open(root, buffer)));
    }
    if wanted.has_any([Source::LinkState, Source::LinkSpeed, Source::Wireless]) {
        parts.push(Box::new(Links::open(root, wanted.has(Source::LinkSpeed))));
    }
    if wanted.has(Source::PowerSupply) {
        parts.push(Box::new(PowerSupplies::open(root)));
    }
    if wanted.has_any([Source::Sensors, Source::CpuTemperatures]) {
        parts.push(Box::new(Sensors::open(root, !wanted.has(Source::Sensors))));
    }
    if wanted.has(Source::Backlight) {
        parts.push(Box::new(Backlights::open(root)));
    }
    if wanted.has(Source::Frequency) {
        parts.push(Box::new(Frequencies::open(root)));
    }
    if wanted.has(Source::Addresses) {
        parts.push(Box::new(Addresses::open(root.is_captured())));
    }
    if wanted.has(Source::Wireless) && !root.is_captured() {
        parts.push(Box::new(Wireless::default()));
    }
    if wanted.has(Source::Zram) {
        parts.push(Box::new(ZramDevices::open(root)));
    }
    parts
}

/// The clock of a captured machine, which its files hold.
#[derive(Debug)]
struct CapturedClock {
    uptime_file: KeptFile,
    stat_file: KeptFile,
    stat: Stat,
}

impl CapturedClock {
    fn open(root: &MachineDirectory) -> Self {
        let file = |path| KeptFile::open(root, path, Extent::Whole);
        Self { uptime_file: file("proc/uptime"), stat_file: file("proc/stat"), stat: Stat::default() }
    }

    fn read(&mut self, buffer: &mut Buffer) -> Clock {
        let mut since_boot = Uptime::default();
        // What a captured machine does not say is the year 1970, at boot.
        let _ = self.uptime_file.parse(buffer, |bytes| since_boot.parse(bytes));
        let _ = self.stat_file.parse(buffer, |bytes| self.stat.parse(bytes));
        let since_boot = since_boot.uptime;
        let boot_time = Nanos(self.stat.boot_time_s.unwrap_or(0).saturating_mul(Nanos::SECOND.0));
        Clock { monotonic: since_boot, boottime: since_boot, realtime: boot_time + since_boot }
    }
}
