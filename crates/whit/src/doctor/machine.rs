//! Findings about the hardware: sensors, batteries, interfaces, disks.

use facts::linux::meminfo::MemInfoField;
use facts::sample::Sample;

use super::finding::Finding;

/// More would not fit on a line.
const SHOWN_INTERFACES: usize = 12;

pub(super) fn examine(sample: &Sample, system: &str) -> Vec<Finding> {
    vec![
        memory(sample, system),
        sensors(sample),
        batteries(sample),
        interfaces(sample),
        disks(sample, system),
    ]
}

fn memory(sample: &Sample, system: &str) -> Finding {
    if system != "Linux" {
        return match sample.memory.get() {
            Ok(_) => Finding::ok("memory", "available: free and inactive pages"),
            Err(absence) => Finding::absent("memory", format!("vm.stats.vm: {absence}"), ""),
        };
    }
    let Ok(memory) = sample.memory.get() else {
        return Finding::absent("memory", "/proc/meminfo cannot be read", "mount /proc");
    };
    if memory.get(MemInfoField::MemAvailable).is_some() {
        return Finding::ok("memory", "the kernel says MemAvailable");
    }
    let (detail, remedy) = match sample.zones.get() {
        Ok(_) => ("no MemAvailable before Linux 3.14: computed by the kernel's formula", "none needed"),
        Err(_) => (
            "no MemAvailable and no /proc/zoneinfo: estimated from min_free_kbytes",
            "Linux 3.14 or later, or a container that shows /proc/zoneinfo",
        ),
    };
    Finding::limited("memory", detail, remedy)
}

fn sensors(sample: &Sample) -> Finding {
    let temperatures = sample.temperatures.get().map_or(&[][..], Vec::as_slice);
    if temperatures.is_empty() {
        return Finding::absent(
            "sensors",
            "no hwmon chip and no thermal zone shows a temperature",
            "load the CPU's driver (modprobe coretemp or k10temp); virtual machines have none",
        );
    }
    let cpus = temperatures.iter().filter(|temperature| temperature.is_cpu()).count();
    let silent = temperatures.iter().filter(|temperature| temperature.millidegrees.is_none()).count();
    let detail = format!("temperatures {}, of CPUs {cpus}, without a value now {silent}", temperatures.len());
    if cpus == 0 {
        return Finding::limited("sensors", detail, "load the CPU's driver: modprobe coretemp or k10temp");
    }
    Finding::ok("sensors", detail)
}

fn batteries(sample: &Sample) -> Finding {
    let supplies = sample.power.get().map_or(&[][..], Vec::as_slice);
    let batteries: Vec<_> = supplies.iter().filter(|supply| supply.is_battery).collect();
    if batteries.is_empty() {
        return Finding::absent("batteries", "none", "");
    }
    let names: Vec<_> = batteries
        .iter()
        .map(|battery| match battery.capacity_percent {
            Some(percent) if battery.present => format!("{} {percent} %", battery.name),
            Some(_) | None if !battery.present => format!("{} (bay empty)", battery.name),
            _ => battery.name.to_string(),
        })
        .collect();
    Finding::ok("batteries", names.join(", "))
}

fn interfaces(sample: &Sample) -> Finding {
    let net = match sample.net_dev.get() {
        Ok(net) => net,
        Err(absence) => {
            return Finding::absent("network", format!("/proc/net/dev: {absence}"), "mount /proc");
        }
    };
    let count = net.interfaces.len();
    let Ok(links) = sample.links.get() else {
        return Finding::limited(
            "network",
            format!("{count} interfaces; whether they are up is not known"),
            "mount /sys",
        );
    };
    let up: Vec<_> = links
        .iter()
        .filter(|link| link.is_up() && !link.is_loopback())
        .map(|link| link.name.as_str())
        .collect();
    let more = up.len().saturating_sub(SHOWN_INTERFACES);
    let mut names = if up.is_empty() { "none".to_owned() } else { up[..up.len() - more].join(", ") };
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    Finding::ok("network", format!("{count} interfaces, up: {names}"))
}

fn disks(sample: &Sample, system: &str) -> Finding {
    match sample.diskstats.get() {
        Err(_) if system != "Linux" => Finding::absent("disks", format!("not read on {system}"), ""),
        Ok(stats) => Finding::ok("disks", format!("{} devices and partitions", stats.disks.len())),
        Err(absence) => Finding::absent("disks", format!("/proc/diskstats: {absence}"), "mount /proc"),
    }
}
