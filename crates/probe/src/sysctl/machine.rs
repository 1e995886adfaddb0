//! The machine behind a [`Probe`](crate::probe::Probe): its nodes, read anew each time.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use facts::freebsd::vm_stats::{SwapPages, VmStats};
use facts::freebsd::{self, acpi_battery, boottime, cp_time, loadavg, swap, temperature, vmtotal};
use facts::linux::loadavg::LoadAverage;
use facts::linux::mounts::Mount;
use facts::linux::power_supply::PowerSupply;
use facts::linux::sensors::Temperature;
use facts::name::Name;
use facts::sample::{Absence, Filesystem, Sample, Space};
use facts::source::{Source, Wanted};
use facts::unit::{Bytes, Nanos};
use rustix::fd::BorrowedFd;

use super::network;
use super::{Node, Sysctl};
use crate::background_job::BackgroundJob;
use crate::request::Request;
use crate::roots::{RootError, Roots};
use crate::space::{captured_space, space_of};

/// No machine has more.
const MAX_SWAP_DEVICES: u32 = 64;
const MAX_THERMAL_ZONES: u32 = 16;
const MAX_CPUS: u64 = 4096;

#[derive(Debug)]
pub(crate) struct Machine {
    sysctl: Sysctl,
    wanted: Wanted,
    /// Any of the calls may hang, and each has a thread; none is made for a captured machine.
    filesystems: Vec<(Mount, Option<BackgroundJob<Option<Space>>>)>,
}

impl Machine {
    pub(crate) fn open(roots: &Roots, request: &Request) -> Result<Self, RootError> {
        Ok(Self::of(Sysctl::open(roots)?, request))
    }

    pub(super) fn of(sysctl: Sysctl, request: &Request) -> Self {
        let is_captured = sysctl.is_captured();
        let filesystems = request.filesystems.iter().filter_map(|path| {
            let target = path.as_os_str().as_bytes().to_vec();
            let name = CString::new(target.clone()).ok()?;
            let start = || BackgroundJob::start("statfs", request.notifier.clone(), move || space_of(&name));
            Some((Mount { target, ..Mount::default() }, (!is_captured).then(start)))
        });
        Self { sysctl, wanted: request.wanted, filesystems: filesystems.collect() }
    }

    pub(super) fn into_sysctl(self) -> Sysctl {
        self.sysctl
    }

    pub(crate) fn system_calls(&self) -> u64 {
        self.sysctl.calls
    }

    /// Changes are not reported here: everything is read each time.
    pub(crate) fn watch(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    pub(crate) fn drain_events(&mut self) {}

    pub(crate) fn sample(&mut self, sample: &mut Sample) {
        sample.clock = self.sysctl.clock();
        let (sysctl, wanted) = (&mut self.sysctl, self.wanted);
        let wants = |source| wanted.has(source);
        if wanted.has_any([Source::Stat, Source::CpuTotal]) {
            sample.stat.fill(|stat| fill_stat(sysctl, stat));
        }
        if wants(Source::ArcStats) {
            sample.arc.fill(|stats| {
                stats.size = Bytes(arc_size(sysctl)?);
                stats.minimum = Bytes(sysctl.number("kstat.zfs.misc.arcstats.c_min")?);
                Ok(())
            });
        }
        if wants(Source::MemInfo) || wants(Source::AvailableMemory) {
            sample.memory.fill(|memory| {
                vm_stats(sysctl)?.fill(memory, swap_pages(sysctl).ok(), arc_size(sysctl).unwrap_or(0));
                Ok(())
            });
        }
        if wants(Source::LoadAverage) {
            sample.load.fill(|load| fill_load(sysctl, load));
        }
        if wants(Source::Uptime) {
            let boottime = sample.clock.boottime;
            sample.uptime.fill(|uptime| {
                uptime.uptime = boottime;
                Ok(())
            });
        }
        if wants(Source::NetDev) || wants(Source::LinkState) || wants(Source::LinkSpeed) {
            let mut links = Ok(Vec::new());
            sample.net_dev.fill(|net| {
                let mut list = Vec::new();
                let filled = network::fill(sysctl, net, &mut list);
                links = filled.map(|()| list);
                filled
            });
            sample.links.fill(|list| {
                *list = links?;
                Ok(())
            });
        }
        if wants(Source::Sensors) || wants(Source::CpuTemperatures) {
            sample.temperatures.fill(|list| fill_temperatures(sysctl, list));
        }
        if wants(Source::PowerSupply) {
            sample.power.fill(|list| fill_power(sysctl, list));
        }
        if wants(Source::Frequency) {
            sample.frequencies_khz.fill(|list| fill_frequencies(sysctl, list));
        }
        self.filesystems.iter().filter_map(|(_, job)| job.as_ref()).for_each(BackgroundJob::request);
        self.collect(sample);
        self.mark_unsupported(sample);
    }

    /// Takes what threads have answered, without asking again.
    pub(crate) fn collect(&mut self, sample: &mut Sample) {
        if !self.wanted.has(Source::Filesystems) {
            return;
        }
        let (filesystems, sysctl) = (&self.filesystems, &mut self.sysctl);
        sample.filesystems.fill(|list| {
            list.clear();
            list.extend(filesystems.iter().map(|(mount, job)| {
                let (space, is_stale) = match job {
                    Some(job) => job.with_result(|answer, is_stale| (answer.copied().flatten(), is_stale)),
                    None => {
                        (sysctl.beside("statfs").and_then(|text| captured_space(text, &mount.target)), false)
                    }
                };
                // Where it is mounted is not read here: nothing says that the path is not it.
                Filesystem { mount: mount.clone(), space, is_stale, is_mount_point: true }
            }));
            if list.is_empty() { Err(Absence::Unsupported) } else { Ok(()) }
        });
    }

    /// Marks sources that FreeBSD does not have, or whit does not read there, as absent, with the reason.
    fn mark_unsupported(&self, sample: &mut Sample) {
        macro_rules! absent {
            ($($source:ident => $reading:expr;)*) => {
                $(if self.wanted.has(Source::$source) {
                    $reading.fill(|_| Err(Absence::Unsupported));
                })*
            };
        }
        absent! {
            ZoneInfo => sample.zones;
            VmStat => sample.vmstat;
            NetProtocols => sample.net_protocols.snmp;
            NetProtocols => sample.net_protocols.snmp6;
            NetProtocols => sample.net_protocols.netstat;
            DiskStats => sample.diskstats;
            PressureCpu => sample.pressure.cpu;
            PressureIo => sample.pressure.io;
            PressureMemory => sample.pressure.memory;
            PressureIrq => sample.pressure.irq;
            Cgroup => sample.cgroup;
            Zram => sample.zram;
            Addresses => sample.addresses;
            Wireless => sample.stations;
            Backlight => sample.backlights;
        }
    }
}

fn fill_stat(sysctl: &mut Sysctl, stat: &mut facts::linux::stat::Stat) -> Result<(), Absence> {
    let all = sysctl.read(Node::Named("kern.cp_time"))?.to_vec();
    let each = sysctl.read(Node::Named("kern.cp_times")).map(<[u8]>::to_vec).unwrap_or_default();
    // Single CPUs that cannot be read do not hide their sum.
    if cp_time::parse(stat, &all, &each).is_err() {
        cp_time::parse(stat, &all, &[]).map_err(|_| Absence::Malformed)?;
    }
    stat.ticks_per_second = sysctl.parse("kern.clockrate", cp_time::ticks_per_second).ok();
    stat.boot_time_s = sysctl.parse("kern.boottime", boottime::parse).ok().map(|at| at.0 / Nanos::SECOND.0);
    stat.context_switches = sysctl.number("vm.stats.sys.v_swtch").ok();
    // FreeBSD counts processes by the call that started them, and no threads.
    stat.forks = None;
    Ok(())
}

fn vm_stats(sysctl: &mut Sysctl) -> Result<VmStats, Absence> {
    let mut pages = |name: &str| sysctl.number(&format!("vm.stats.vm.v_{name}"));
    Ok(VmStats {
        page_bytes: pages("page_size")?,
        pages: pages("page_count")?,
        free_pages: pages("free_count")?,
        active_pages: pages("active_count")?,
        inactive_pages: pages("inactive_count")?,
        laundry_pages: pages("laundry_count").ok(),
        wired_pages: pages("wire_count")?,
        cache_pages: pages("cache_count").ok(),
    })
}

/// Reads the size of ZFS' cache.
fn arc_size(sysctl: &mut Sysctl) -> Result<u64, Absence> {
    sysctl.number("kstat.zfs.misc.arcstats.size")
}

/// The CPUs, of which a reply may contain any number.
fn cpus(sysctl: &mut Sysctl) -> Result<u64, Absence> {
    sysctl.number("hw.ncpu").and_then(|cpus| if cpus > MAX_CPUS { Err(Absence::Malformed) } else { Ok(cpus) })
}

/// All swap devices together.
fn swap_pages(sysctl: &mut Sysctl) -> Result<SwapPages, Absence> {
    let mut sum = SwapPages::default();
    for device in 0..MAX_SWAP_DEVICES {
        let bytes = match sysctl.read(Node::Entry("vm.swap_info", device)) {
            // Behind the last one.
            Err(Absence::Gone) => break,
            read => read?,
        };
        let one = swap::parse(bytes).map_err(|_| Absence::Malformed)?;
        sum =
            SwapPages { total: sum.total.saturating_add(one.total), used: sum.used.saturating_add(one.used) };
    }
    Ok(sum)
}

fn fill_load(sysctl: &mut Sysctl, load: &mut LoadAverage) -> Result<(), Absence> {
    load.thousandths = sysctl.parse("vm.loadavg", loadavg::thousandths)?;
    (load.runnable_tasks, load.tasks) = sysctl.parse("vm.vmtotal", vmtotal::threads)?;
    Ok(())
}

fn fill_temperatures(sysctl: &mut Sysctl, list: &mut Vec<Temperature>) -> Result<(), Absence> {
    list.clear();
    let cpus = cpus(sysctl)?;
    for cpu in 0..cpus {
        let Ok(millidegrees) = sysctl.parse(&format!("dev.cpu.{cpu}.temperature"), temperature::millidegrees)
        else {
            continue;
        };
        list.push(Temperature {
            device: Name::new(format!("cpu{cpu}").as_bytes()),
            // The driver's name, amdtemp(4) as well: by it the bar knows a CPU's own sensor.
            chip: Name::new(b"coretemp"),
            label: Name::new(format!("Core {cpu}").as_bytes()),
            millidegrees: Some(millidegrees),
        });
    }
    for zone in 0..MAX_THERMAL_ZONES {
        let name = format!("hw.acpi.thermal.tz{zone}.temperature");
        let Ok(millidegrees) = sysctl.parse(&name, temperature::millidegrees) else { break };
        let zone = Name::new(format!("tz{zone}").as_bytes());
        let chip = Name::new(b"thermal_zone");
        list.push(Temperature { device: zone, chip, label: zone, millidegrees: Some(millidegrees) });
    }
    Ok(())
}

fn fill_power(sysctl: &mut Sysctl, list: &mut Vec<PowerSupply>) -> Result<(), Absence> {
    list.clear();
    let mut node = |name: &str| {
        sysctl.read(Node::Named(&format!("hw.acpi.{name}"))).map(<[u8]>::to_vec).unwrap_or_default()
    };
    let (state, life) = (node("battery.state"), node("battery.life"));
    let (time, rate) = (node("battery.time"), node("battery.rate"));
    let mains = node("acline");
    list.extend(acpi_battery::parse(&state, &life, &time, &rate));
    if let Ok(online) = freebsd::integer(&mains) {
        let name = Name::new(b"acline");
        list.push(PowerSupply { name, online: Some(online != 0), present: true, ..PowerSupply::default() });
    }
    Ok(())
}

fn fill_frequencies(sysctl: &mut Sysctl, list: &mut Vec<u64>) -> Result<(), Absence> {
    list.clear();
    let cpus = cpus(sysctl)?;
    for cpu in 0..cpus {
        // Megahertz; often only the first CPU has it, for all.
        list.extend(sysctl.number(&format!("dev.cpu.{cpu}.freq")).ok().and_then(|mhz| mhz.checked_mul(1000)));
    }
    if list.is_empty() { Err(Absence::Unsupported) } else { Ok(()) }
}
