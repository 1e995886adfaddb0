//! How rows find their values in a sample: what is absent is not visited.

use super::{LabelValue, Visit};
use crate::cgroup::LimitedCgroup;
use crate::linux::diskstats::Disk;
use crate::linux::meminfo::MemInfoField;
use crate::linux::net_attributes::Link;
use crate::linux::net_dev::Interface;
use crate::linux::net_protocols::NetProtocolField;
use crate::linux::nl80211::Station;
use crate::linux::power_supply::PowerSupply as Supply;
use crate::linux::pressure::{Pressure, Stall};
use crate::linux::stat::Stat;
use crate::linux::vmstat::VmStatField;
use crate::linux::zoneinfo::ZoneInfo;
use crate::sample::{Reading, Sample, Space};
use crate::unit::Nanos;

/// A figure without labels.
pub(super) fn one<T>(reading: &Reading<T>, visit: Visit<'_>, value: impl FnOnce(&T) -> Option<f64>) {
    if let Some(value) = reading.get().ok().and_then(value) {
        visit(&[], value);
    }
}

pub(super) fn stat(sample: &Sample, visit: Visit<'_>, value: fn(&Stat) -> Option<u64>) {
    one(&sample.stat, visit, |stat| value(stat).map(|value| value as f64));
}

pub(super) fn memory(sample: &Sample, visit: Visit<'_>, field: MemInfoField) {
    one(&sample.memory, visit, |memory| memory.get(field).map(|value| value as f64));
}

pub(super) fn zones(sample: &Sample, visit: Visit<'_>, pages: fn(&ZoneInfo) -> u64) {
    one(&sample.zones, visit, |zones| Some(pages(zones) as f64));
}

pub(super) fn vmstat(sample: &Sample, visit: Visit<'_>, field: VmStatField) {
    one(&sample.vmstat, visit, |vmstat| vmstat.get(field).map(|value| value as f64));
}

pub(super) fn load(sample: &Sample, visit: Visit<'_>, index: usize) {
    one(&sample.load, visit, |load| Some(load.averages()[index]));
}

pub(super) fn stalled_seconds(
    reading: &Reading<Pressure>,
    visit: Visit<'_>,
    line: fn(&Pressure) -> Option<Stall>,
) {
    one(reading, visit, |pressure| line(pressure).map(|stall| stall.total.as_secs_f64()));
}

pub(super) fn stalled_ratio(
    reading: &Reading<Pressure>,
    visit: Visit<'_>,
    line: fn(&Pressure) -> Option<Stall>,
) {
    let Some(stall) = reading.get().ok().and_then(line) else { return };
    for (window, percent) in ["10s", "60s", "300s"].into_iter().zip(stall.averages_percent()) {
        visit(&[LabelValue::Text(window)], percent / 100.0);
    }
}

/// CPU time by CPU and mode.
pub(super) fn cpu_seconds(sample: &Sample, visit: Visit<'_>) {
    let Ok(stat) = sample.stat.get() else { return };
    let Some(ticks_per_second) = stat.ticks_per_second else { return };
    for (number, ticks) in &stat.cpus {
        let counted_everywhere = [
            ("user", ticks.user),
            ("nice", ticks.nice),
            ("system", ticks.system),
            ("idle", ticks.idle),
            ("irq", ticks.irq),
        ];
        let on_linux = [("iowait", ticks.iowait), ("softirq", ticks.softirq), ("steal", ticks.steal)];
        let on_linux = if stat.has_five_states { &[][..] } else { &on_linux };
        for (mode, ticks) in counted_everywhere.iter().chain(on_linux) {
            let labels = [LabelValue::Number(u64::from(*number)), LabelValue::Text(mode)];
            visit(&labels, ticks.0 as f64 / f64::from(ticks_per_second));
        }
    }
}

pub(super) fn each_interface(sample: &Sample, visit: Visit<'_>, counter: fn(&Interface) -> u64) {
    let Ok(net) = sample.net_dev.get() else { return };
    for interface in &net.interfaces {
        visit(&[LabelValue::Text(interface.name.as_str())], counter(interface) as f64);
    }
}

pub(super) fn protocol(sample: &Sample, visit: Visit<'_>, field: NetProtocolField) {
    if let Some(value) = sample.net_protocols.get(field) {
        visit(&[], value as f64);
    }
}

pub(super) fn each_link(sample: &Sample, visit: Visit<'_>, value: fn(&Link) -> Option<f64>) {
    let Ok(links) = sample.links.get() else { return };
    for link in links {
        if let Some(value) = value(link) {
            visit(&[LabelValue::Text(link.name.as_str())], value);
        }
    }
}

pub(super) fn each_disk(sample: &Sample, visit: Visit<'_>, value: fn(&Disk) -> Option<f64>) {
    let Ok(stats) = sample.diskstats.get() else { return };
    for disk in &stats.disks {
        if let Some(value) = value(disk) {
            visit(&[LabelValue::Text(disk.name.as_str())], value);
        }
    }
}

pub(super) fn each_filesystem(sample: &Sample, visit: Visit<'_>, value: fn(&Space) -> u64) {
    each_space(sample, visit, |space| Some(value(space) as f64));
}

pub(super) fn each_read_only(sample: &Sample, visit: Visit<'_>) {
    each_space(sample, visit, |space| {
        space.is_read_only.map(|is_read_only| f64::from(u8::from(is_read_only)))
    });
}

fn each_space(sample: &Sample, visit: Visit<'_>, value: impl Fn(&Space) -> Option<f64>) {
    let Ok(filesystems) = sample.filesystems.get() else { return };
    for filesystem in filesystems {
        if let Some(value) = filesystem.space.as_ref().and_then(&value) {
            let mount = &filesystem.mount;
            let labels = [&mount.source, &mount.filesystem, &mount.target];
            visit(&labels.map(|bytes| LabelValue::Bytes(bytes)), value);
        }
    }
}

pub(super) fn each_limited_cgroup(
    sample: &Sample,
    visit: Visit<'_>,
    value: fn(&LimitedCgroup) -> Option<f64>,
) {
    let Ok(cgroups) = sample.limited_cgroups.get() else { return };
    for cgroup in cgroups {
        if let Some(value) = value(cgroup) {
            visit(&[LabelValue::Bytes(&cgroup.path)], value);
        }
    }
}

pub(super) fn each_temperature(sample: &Sample, visit: Visit<'_>) {
    let Ok(temperatures) = sample.temperatures.get() else { return };
    for temperature in temperatures {
        if let Some(millidegrees) = temperature.millidegrees {
            let labels = [&temperature.device, &temperature.chip, &temperature.label];
            visit(&labels.map(|name| LabelValue::Text(name.as_str())), millidegrees as f64 / 1e3);
        }
    }
}

pub(super) fn each_battery(sample: &Sample, visit: Visit<'_>, value: fn(&Supply) -> Option<f64>) {
    let Ok(supplies) = sample.power.get() else { return };
    for battery in supplies.iter().filter(|supply| supply.is_battery) {
        if let Some(value) = value(battery) {
            visit(&[LabelValue::Text(battery.name.as_str())], value);
        }
    }
}

pub(super) fn each_frequency(sample: &Sample, visit: Visit<'_>) {
    let Ok(frequencies) = sample.frequencies_khz.get() else { return };
    for (number, kilohertz) in frequencies.iter().enumerate() {
        visit(&[LabelValue::Number(number as u64)], *kilohertz as f64 * 1e3);
    }
}

pub(super) fn each_backlight(sample: &Sample, visit: Visit<'_>) {
    let Ok(backlights) = sample.backlights.get() else { return };
    for backlight in backlights {
        if let Some(share) = backlight.share() {
            visit(&[LabelValue::Text(backlight.name.as_str())], share.0);
        }
    }
}

pub(super) fn each_station(sample: &Sample, visit: Visit<'_>, value: fn(&Station) -> Option<f64>) {
    let Ok(stations) = sample.stations.get() else { return };
    for station in stations {
        if let Some(value) = value(station) {
            visit(&[LabelValue::Text(station.ssid.as_str())], value);
        }
    }
}

/// Milliseconds as seconds.
pub(super) fn seconds(milliseconds: u64) -> f64 {
    Nanos(milliseconds.saturating_mul(1_000_000)).as_secs_f64()
}
