//! How rows find their values in a sample: what is absent is not visited.

use super::Visit;
use crate::linux::diskstats::Disk;
use crate::linux::meminfo::MemInfoField;
use crate::linux::net_attributes::Link;
use crate::linux::net_dev::Interface;
use crate::linux::nl80211::Station;
use crate::linux::power_supply::PowerSupply as Supply;
use crate::linux::pressure::{Pressure, Stall};
use crate::linux::sensors::Temperature;
use crate::linux::stat::CpuTicks;
use crate::linux::vmstat::VmStatField;
use crate::sample::{Reading, Sample, Space};
use crate::unit::Ticks;

pub(super) fn of<T, R>(reading: &Reading<T>, value: impl FnOnce(&T) -> R) -> Option<R> {
    reading.get().ok().map(value)
}

pub(super) fn memory(sample: &Sample, field: MemInfoField) -> Option<f64> {
    of(&sample.memory, |memory| memory.get(field)).flatten().map(|value| value as f64)
}

pub(super) fn vmstat(sample: &Sample, field: VmStatField) -> Option<f64> {
    of(&sample.vmstat, |vmstat| vmstat.get(field)).flatten().map(|value| value as f64)
}

pub(super) fn stall(reading: &Reading<Pressure>, line: fn(&Pressure) -> Option<Stall>) -> Option<Stall> {
    of(reading, line).flatten()
}

pub(super) fn each_cpu(sample: &Sample, visit: Visit<'_>, state: fn(&CpuTicks) -> Ticks) {
    let Ok(stat) = sample.stat.get() else { return };
    for (number, ticks) in &stat.cpus {
        visit(&number.to_string(), state(ticks).0 as f64);
    }
}

pub(super) fn each_interface(sample: &Sample, visit: Visit<'_>, counter: fn(&Interface) -> u64) {
    let Ok(net) = sample.net_dev.get() else { return };
    for interface in &net.interfaces {
        visit(interface.name.as_str(), counter(interface) as f64);
    }
}

pub(super) fn each_link(sample: &Sample, visit: Visit<'_>, value: fn(&Link) -> Option<f64>) {
    let Ok(links) = sample.links.get() else { return };
    for link in links {
        if let Some(value) = value(link) {
            visit(link.name.as_str(), value);
        }
    }
}

pub(super) fn each_disk(sample: &Sample, visit: Visit<'_>, counter: fn(&Disk) -> Option<u64>) {
    let Ok(stats) = sample.diskstats.get() else { return };
    for disk in &stats.disks {
        if let Some(value) = counter(disk) {
            visit(disk.name.as_str(), value as f64);
        }
    }
}

pub(super) fn each_filesystem(sample: &Sample, visit: Visit<'_>, value: fn(&Space) -> u64) {
    let Ok(filesystems) = sample.filesystems.get() else { return };
    for filesystem in filesystems {
        if let Some(space) = &filesystem.space {
            visit(&String::from_utf8_lossy(&filesystem.mount.target), value(space) as f64);
        }
    }
}

pub(super) fn each_temperature(sample: &Sample, visit: Visit<'_>) {
    let Ok(temperatures) = sample.temperatures.get() else { return };
    for temperature in temperatures {
        if let Some(millidegrees) = temperature.millidegrees {
            let Temperature { device, chip, label, .. } = temperature;
            visit(&format!("{device} {chip} {label}"), millidegrees as f64);
        }
    }
}

pub(super) fn each_battery(sample: &Sample, visit: Visit<'_>, value: fn(&Supply) -> Option<u64>) {
    let Ok(supplies) = sample.power.get() else { return };
    for battery in supplies.iter().filter(|supply| supply.is_battery) {
        if let Some(value) = value(battery) {
            visit(battery.name.as_str(), value as f64);
        }
    }
}

pub(super) fn each_frequency(sample: &Sample, visit: Visit<'_>) {
    let Ok(frequencies) = sample.frequencies_khz.get() else { return };
    for (number, kilohertz) in frequencies.iter().enumerate() {
        visit(&number.to_string(), *kilohertz as f64);
    }
}

pub(super) fn each_backlight(sample: &Sample, visit: Visit<'_>) {
    let Ok(backlights) = sample.backlights.get() else { return };
    for backlight in backlights {
        if let Some(share) = backlight.share() {
            visit(backlight.name.as_str(), share.percent());
        }
    }
}

pub(super) fn each_station(sample: &Sample, visit: Visit<'_>, value: fn(&Station) -> Option<f64>) {
    let Ok(stations) = sample.stations.get() else { return };
    for station in stations {
        if let Some(value) = value(station) {
            visit(station.ssid.as_str(), value);
        }
    }
}
