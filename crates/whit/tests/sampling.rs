//! After the first tick, sampling allocates nothing.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use facts::rate::{Rates, Width};
use facts::sample::Sample;
use facts::source::Wanted;
use probe::{Probe, Request, Roots};

fn allocations_of_a_tick(roots: &Roots) -> u64 {
    let request = Request { wanted: Wanted::all(), ..Request::default() };
    let mut probe = Probe::open(roots, &request).unwrap();
    let (mut before, mut now) = (Sample::default(), Sample::default());
    let mut rates = Rates::default();
    for _ in 0..2 {
        probe.sample(&mut before);
        probe.sample(&mut now);
        rates.fill(&before, &now, Width::Bits64);
    }
    let ticks = 10;
    let counted = allocation_counter::measure(|| {
        for _ in 0..ticks {
            probe.sample(&mut now);
            rates.fill(&before, &now, Width::Bits64);
            std::mem::swap(&mut before, &mut now);
        }
    });
    counted.count_total
}

#[test]
fn sampling_this_machine_allocates_nothing() {
    assert_eq!(allocations_of_a_tick(&Roots::live()), 0);
}

#[test]
fn sampling_captured_machines_allocates_nothing() {
    for machine in ["laptop", "server-128cpu", "linux-4.19", "container"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(machine);
        assert_eq!(allocations_of_a_tick(&Roots::captured(root)), 0, "{machine}");
    }
}

#[test]
fn visiting_metrics_allocates_nothing() {
    for machine in ["laptop", "server-128cpu", "freebsd-13"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(machine);
        let request = Request { wanted: Wanted::all(), filesystems: vec!["/".into()], ..Request::default() };
        let (mut probe, mut sample) =
            (Probe::open(&Roots::captured(root), &request).unwrap(), Sample::default());
        probe.sample(&mut sample);
        let (mut values, mut labels) = (0, 0);
        let counted = allocation_counter::measure(|| {
            for metric in facts::catalog::METRICS {
                metric.visit(&sample, &mut |found, value| {
                    assert_eq!(found.len(), metric.labels.len());
                    assert!(value.is_finite());
                    (values, labels) = (values + 1, labels + found.len());
                });
            }
        });
        assert!(values > 60 && labels > 30, "{machine}: {values} values, {labels} labels");
        assert_eq!(counted.count_total, 0, "{machine}");
    }
}

#[test]
fn the_counter_counts() {
    assert!(allocation_counter::measure(|| drop(std::hint::black_box(vec![1u8; 100]))).count_total > 0);
}

fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.is_dir() {
            copy_directory(&entry, &to);
        } else {
            std::fs::copy(&entry, &to).unwrap();
        }
    }
}

/// Also when the directories are looked through again, and nothing came or went.
#[test]
fn looking_for_new_devices_allocates_nothing() {
    let root = std::env::temp_dir().join(format!("whit-looking-{}", std::process::id()));
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/laptop");
    copy_directory(&machine, &root);
    let uptime = |text: &str| std::fs::write(root.join("proc/uptime"), text).unwrap();
    uptime("100.00 0\n");
    let (request, mut sample) = (Request { wanted: Wanted::all(), ..Request::default() }, Sample::default());
    let mut probe = Probe::open(&Roots::captured(&root), &request).unwrap();
    probe.sample(&mut sample);
    probe.sample(&mut sample);
    let calls = probe.system_calls();
    probe.sample(&mut sample);
    let calls_of_a_tick = probe.system_calls() - calls;
    uptime("111.00 0\n");
    let calls = probe.system_calls();
    let counted = allocation_counter::measure(|| probe.sample(&mut sample));
    assert!(probe.system_calls() - calls > calls_of_a_tick, "nothing was looked through");
    assert_eq!(counted.count_total, 0);
    std::fs::remove_dir_all(root).unwrap();
}

/// Devices that come and go are noticed within the time between two looks.
#[test]
fn hot_plugged_devices_appear_and_vanish() {
    let root = std::env::temp_dir().join(format!("whit-hotplug-{}", std::process::id()));
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let battery = "POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_CAPACITY=50\n";
    write("proc/uptime", "100.00 0\n");
    write("sys/class/power_supply/BAT0/uevent", battery);
    let request =
        Request { wanted: Wanted::from([facts::source::Source::PowerSupply]), ..Request::default() };
    let mut probe = Probe::open(&Roots::captured(&root), &request).unwrap();
    let mut sample = Sample::default();
    let mut names = |sample: &mut Sample| {
        probe.sample(sample);
        sample.power.get().unwrap().iter().map(|supply| supply.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut sample), ["BAT0"]);
    write("sys/class/power_supply/BAT1/uevent", battery);
    assert_eq!(names(&mut sample), ["BAT0"], "not looked for at every tick");
    write("proc/uptime", "111.00 0\n");
    assert_eq!(names(&mut sample), ["BAT0", "BAT1"]);
    std::fs::remove_dir_all(root.join("sys/class/power_supply/BAT0")).unwrap();
    write("proc/uptime", "122.00 0\n");
    assert_eq!(names(&mut sample), ["BAT1"]);
    std::fs::remove_dir_all(root).unwrap();
}
