//! The machine behind a [`Probe`](crate::probe::Probe): what was asked for, open.

mod devices;

use facts::linux::cpufreq;
use facts::linux::stat::Stat;
use facts::linux::uptime::Uptime;
use facts::sample::{Absence, Clock, Sample};
use facts::source::Source;
use facts::unit::Nanos;
use rustix::fd::{AsFd, BorrowedFd};

use super::addresses::{Addresses, NetworkNews};
use super::cgroup::CgroupFiles;
use super::directories::KeptDirectory;
use super::files::{Buffer, Extent, KeptFile};
use super::filesystems::Filesystems;
use super::wireless::Wireless;
use crate::clock::clock_now;
use crate::request::Request;
use crate::roots::{MachineDirectory, RootError, Roots};
use devices::{BacklightFiles, FrequencyFile, LinkFiles, SensorFiles, SupplyFile, ZramFile};

/// How often directories and mounts are looked through for what came or went.
const RESCAN_EVERY: Nanos = Nanos(10_000_000_000);

/// Kept descriptors of one machine.
#[derive(Debug)]
pub(crate) struct Machine {
    buffer: Buffer,
    last_rescan: Option<Nanos>,
    /// How many there were at the last tick.
    interfaces: usize,
    stat: Option<KeptFile>,
    memory: Option<KeptFile>,
    zones: Option<KeptFile>,
    vmstat: Option<KeptFile>,
    load: Option<KeptFile>,
    uptime: Option<KeptFile>,
    net_dev: Option<KeptFile>,
    diskstats: Option<KeptFile>,
    pressure_cpu: Option<KeptFile>,
    pressure_io: Option<KeptFile>,
    pressure_memory: Option<KeptFile>,
    pressure_irq: Option<KeptFile>,
    arc: Option<KeptFile>,
    links: Option<Option<KeptDirectory<LinkFiles>>>,
    with_link_speed: bool,
    cpu_temperatures_only: bool,
    available_memory_only: bool,
    sensors: Option<[Option<KeptDirectory<SensorFiles>>; 2]>,
    power: Option<Option<KeptDirectory<SupplyFile>>>,
    zram: Option<Option<KeptDirectory<ZramFile>>>,
    backlights: Option<Option<KeptDirectory<BacklightFiles>>>,
    frequencies: Option<Option<KeptDirectory<FrequencyFile>>>,
    cpuinfo: Option<KeptFile>,
    addresses: Option<Addresses>,
    news: Option<NetworkNews>,
    /// The view waits for the news, and says when there are some.
    is_watched: bool,
    has_news: bool,
    /// Now and then they are looked at without any.
    are_links_due: bool,
    wireless: Option<Wireless>,
    cgroup: Option<CgroupFiles>,
    filesystems: Option<Filesystems>,
    captured_clock: Option<CapturedClock>,
}

impl Machine {
    pub(crate) fn open(roots: &Roots, request: &Request) -> Result<Self, RootError> {
        let root = roots.open()?;
        let mut buffer = Buffer::new();
        let wants = |source| request.wanted.has(source);
        let file = |source, path, extent| wants(source).then(|| KeptFile::open(&root, path, extent));
        let captured_clock = root.is_captured().then(|| CapturedClock::open(&root));
        Ok(Self {
            stat: file(Source::Stat, "proc/stat", Extent::Whole),
            memory: request
                .wanted
                .has_any([Source::MemInfo, Source::AvailableMemory])
                .then(|| KeptFile::open(&root, "proc/meminfo", Extent::Whole)),
            zones: file(Source::ZoneInfo, "proc/zoneinfo", Extent::Records),
            vmstat: file(Source::VmStat, "proc/vmstat", Extent::Lines),
            load: file(Source::LoadAverage, "proc/loadavg", Extent::Whole),
            uptime: file(Source::Uptime, "proc/uptime", Extent::Whole),
            net_dev: file(Source::NetDev, "proc/net/dev", Extent::Lines),
            diskstats: file(Source::DiskStats, "proc/diskstats", Extent::Lines),
            pressure_cpu: file(Source::PressureCpu, "proc/pressure/cpu", Extent::Whole),
            pressure_io: file(Source::PressureIo, "proc/pressure/io", Extent::Whole),
            pressure_memory: file(Source::PressureMemory, "proc/pressure/memory", Extent::Whole),
            pressure_irq: file(Source::PressureIrq, "proc/pressure/irq", Extent::Whole),
            arc: file(Source::ArcStats, "proc/spl/kstat/zfs/arcstats", Extent::Lines),
            links: [Source::LinkState, Source::LinkSpeed, Source::Wireless]
                .into_iter()
                .any(wants)
                .then(|| KeptDirectory::open(&root, "sys/class/net")),
            with_link_speed: wants(Source::LinkSpeed),
            sensors: request.wanted.has_any([Source::Sensors, Source::CpuTemperatures]).then(|| {
                ["sys/class/hwmon", "sys/class/thermal"].map(|path| KeptDirectory::open(&root, path))
            }),
            power: wants(Source::PowerSupply).then(|| KeptDirectory::open(&root, "sys/class/power_supply")),
            zram: wants(Source::Zram).then(|| KeptDirectory::open(&root, "sys/block")),
            backlights: wants(Source::Backlight).then(|| KeptDirectory::open(&root, "sys/class/backlight")),
            frequencies: wants(Source::Frequency)
                .then(|| KeptDirectory::open(&root, "sys/devices/system/cpu")),
            cpuinfo: file(Source::Frequency, "proc/cpuinfo", Extent::Records),
            addresses: wants(Source::Addresses).then(|| Addresses::open(root.is_captured())),
            news: (!root.is_captured() && (wants(Source::LinkState) || wants(Source::Addresses)))
                .then(NetworkNews::open)
                .flatten(),
            is_watched: request.notifier.is_some(),
            has_news: true,
            are_links_due: true,
            wireless: (wants(Source::Wireless) && !root.is_captured()).then(Wireless::default),
            cpu_temperatures_only: !wants(Source::Sensors),
            available_memory_only: !wants(Source::MemInfo),
            cgroup: wants(Source::Cgroup).then(|| CgroupFiles::open(&root, &mut buffer)),
            filesystems: wants(Source::Filesystems)
                .then(|| Filesystems::open(&root, &request.filesystems, request.notifier.clone())),
            captured_clock,
            last_rescan: None,
            interfaces: 0,
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
        let now = sample.clock.boottime;
        self.read_proc(sample);
        // An interface that came or went shows in /proc/net/dev first.
        let interfaces = sample.net_dev.get().map_or(0, |net| net.interfaces.len());
        let was_told = self.look_for_news();
        let is_due = self.last_rescan.is_none_or(|last| now.saturating_sub(last) >= RESCAN_EVERY);
        if is_due || was_told || interfaces != self.interfaces {
            (self.last_rescan, self.interfaces) = (Some(now), interfaces);
            self.rescan();
            self.are_links_due = true;
        }
        self.read_devices(sample);
        (self.has_news, self.are_links_due) = (false, false);
        if let Some(filesystems) = &mut self.filesystems {
            filesystems.ask();
        }
        self.collect(sample);
    }

    /// Readable when [`drain`](Self::drain) has something to take.
    pub(crate) fn watch(&self) -> Option<BorrowedFd<'_>> {
        self.news.as_ref().filter(|_| self.is_watched).map(AsFd::as_fd)
    }

    /// Takes news of the network, so that the next sample looks at it again.
    pub(crate) fn drain(&mut self) {
        self.has_news |= self.news.as_ref().is_some_and(|news| news.drain(&mut self.buffer));
    }

    /// Whether the kernel has reported changes. If it reports none, links are read each time.
    fn look_for_news(&mut self) -> bool {
        if self.news.is_none() {
            self.has_news = true;
            return false;
        }
        if !self.is_watched {
            self.drain();
        }
        self.has_news
    }

    /// Takes what threads have answered, without asking again.
    pub(crate) fn collect(&mut self, sample: &mut Sample) {
        if let Some(filesystems) = &mut self.filesystems {
            filesystems.fill(&mut self.buffer, &mut sample.filesystems);
        }
    }

    fn read_proc(&mut self, sample: &mut Sample) {
        let buffer = &mut self.buffer;
        macro_rules! fill {
            ($($file:ident => $reading:expr;)*) => {
                $(if let Some(file) = &self.$file {
                    file.fill(buffer, &mut $reading, |value, bytes| value.parse(bytes));
                })*
            };
        }
        fill! {
            stat => sample.stat;
            zones => sample.zones;
            vmstat => sample.vmstat;
            load => sample.load;
            uptime => sample.uptime;
            net_dev => sample.net_dev;
            diskstats => sample.diskstats;
            pressure_cpu => sample.pressure.cpu;
            pressure_io => sample.pressure.io;
            pressure_memory => sample.pressure.memory;
            pressure_irq => sample.pressure.irq;
            arc => sample.arc;
        }
        if let Some(memory) = &self.memory {
            let available_only = self.available_memory_only;
            memory.fill(buffer, &mut sample.memory, |value, bytes| match available_only {
                true => value.parse_available(bytes),
                false => value.parse(bytes),
            });
        }
        if let Some(cgroup) = &mut self.cgroup {
            sample.cgroup.fill(|limits| cgroup.read(buffer, limits));
        }
    }

    fn read_devices(&mut self, sample: &mut Sample) {
        let buffer = &mut self.buffer;
        if let Some(links) = &mut self.links {
            let is_due = self.has_news || self.are_links_due;
            let with_speed = self.with_link_speed;
            sample.links.fill(|list| devices::fill_links(buffer, links, list, is_due, with_speed));
            // Interfaces without a single link: the listing was of another moment.
            if links.is_some() && self.interfaces > 0 && sample.links.get().is_ok_and(Vec::is_empty) {
                self.last_rescan = None;
            }
        }
        if let Some(supplies) = &mut self.power {
            sample.power.fill(|list| devices::fill_list(supplies, list, |file| file.read(buffer)));
        }
        if let Some(sensors) = &mut self.sensors {
            sample.temperatures.fill(|list| {
                list.clear();
                for directory in sensors.iter_mut().flatten() {
                    directory.read(|files| files.read(buffer, list));
                }
                if sensors.iter().all(Option::is_none) { Err(Absence::Unsupported) } else { Ok(()) }
            });
        }
        if let Some(backlights) = &mut self.backlights {
            sample.backlights.fill(|list| devices::fill_list(backlights, list, |files| files.read(buffer)));
        }
        if let Some(frequencies) = &mut self.frequencies {
            sample.frequencies_khz.fill(|list| {
                list.clear();
                if let Some(directory) = frequencies {
                    directory.read(|file| file.read(buffer).map(|kilohertz| list.extend(kilohertz)));
                }
                if list.is_empty()
                    && let Some(cpuinfo) = &self.cpuinfo
                {
                    cpuinfo.parse(buffer, |bytes| {
                        cpufreq::cpuinfo_kilohertz(bytes, list);
                        Ok(())
                    })?;
                }
                if list.is_empty() { Err(Absence::Unsupported) } else { Ok(()) }
            });
        }
        if let Some(addresses) = &mut self.addresses {
            addresses.fill(buffer, self.has_news, &mut sample.addresses);
        }
        if let Some(wireless) = &mut self.wireless {
            let links = sample.links.get().map_or(&[][..], Vec::as_slice);
            wireless.fill(buffer, links, &mut sample.stations);
        }
        if let Some(devices) = &mut self.zram {
            sample.zram.fill(|sum| {
                *sum = facts::linux::zram::Zram::default();
                let devices = devices.as_mut().ok_or(Absence::Unsupported)?;
                devices.read(|file| file.add_to(buffer, sum));
                Ok(())
            });
        }
    }

    fn rescan(&mut self) {
        let (buffer, with_speed, cpu_only) =
            (&mut self.buffer, self.with_link_speed, self.cpu_temperatures_only);
        if let Some(Some(links)) = &mut self.links {
            links.rescan(buffer, |buffer, directory, name| {
                Some(LinkFiles::open(buffer, directory, name, with_speed))
            });
        }
        if let Some(Some(supplies)) = &mut self.power {
            supplies.rescan(buffer, |_, directory, name| Some(SupplyFile::open(directory, name)));
        }
        if let Some(Some(backlights)) = &mut self.backlights {
            backlights.rescan(buffer, BacklightFiles::open);
        }
        if let Some(Some(frequencies)) = &mut self.frequencies {
            frequencies.rescan(buffer, |_, directory, name| FrequencyFile::open(directory, name));
        }
        if let Some(Some(devices)) = &mut self.zram {
            devices.rescan(buffer, |_, directory, name| ZramFile::open(directory, name));
        }
        if let Some([hwmon, thermal]) = &mut self.sensors {
            if let Some(hwmon) = hwmon {
                hwmon.rescan(buffer, |buffer, directory, name| {
                    SensorFiles::open_hwmon(buffer, directory, name, cpu_only)
                });
            }
            if let Some(thermal) = thermal {
                thermal.rescan(buffer, |buffer, directory, name| {
                    SensorFiles::open_thermal(buffer, directory, name, cpu_only)
                });
            }
        }
        if let Some(filesystems) = &mut self.filesystems {
            filesystems.rescan(buffer);
        }
    }
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
