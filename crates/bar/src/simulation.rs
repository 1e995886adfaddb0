//! A day of ticks on a captured machine whose files change, with suspends and clocks that are set. At every tick each segment has the
//! value that it must have, no rate is negative, and nothing is allocated.

use std::fs;
use std::path::{Path, PathBuf};

use facts::unit::Nanos;
use jiff::tz::TimeZone;
use probe::Roots;

use super::config::read;
use super::line::Line;
use super::{SegmentContext, Tone};
use text::units::Span;

const CONFIG: &str = r#"
[[segment]]
type = "net"
format = "{name} {received:bare} {sent:spark5}"
[[segment]]
type = "cpu"
format = "{busy} {busy:spark8}"
[[segment]]
type = "memory"
[[segment]]
type = "load"
[[segment]]
type = "battery"
[[segment]]
type = "uptime"
[[segment]]
type = "date"
format = "%H:%M:%S"
[[segment]]
type = "date"
interval = 60
format = "%H:%M"
"#;

const SECOND: u64 = 1_000_000_000;
const TICKS: u64 = 86_400;

/// The machine's state, written where the probe reads it.
struct Simulated {
    root: PathBuf,
    /// Seconds since boot, suspends left out and included, and since 1970.
    monotonic: u64,
    realtime: u64,
    received: u64,
    busy: u64,
    idle: u64,
}

impl Simulated {
    fn write(&self) {
        let file = |path: &str, text: String| fs::write(self.root.join(path), text).unwrap();
        file("proc/uptime", format!("{}.00 0\n", self.monotonic));
        let boot_time = self.realtime - self.monotonic;
        let (busy, idle) = (self.busy, self.idle);
        file(
            "proc/stat",
            format!("cpu  {busy} 0 0 {idle} 0 0 0 0\ncpu0 {busy} 0 0 {idle}\nbtime {boot_time}\n"),
        );
        let received = self.received;
        file(
            "proc/net/dev",
            format!(
                "a\nb\n    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n  eth0: {received} 1 0 0 0 0 0 0 {received} 1 0 0 0 0 0 0\n"
            ),
        );
    }
}

fn machine() -> Simulated {
    // In memory: a day is a quarter of a million files.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let root = place.join(format!("whit-simulation-{}", std::process::id()));
    fs::create_dir_all(root.join("proc/net")).unwrap();
    fs::create_dir_all(root.join("sys/class/power_supply/BAT0")).unwrap();
    fs::write(root.join("proc/meminfo"), "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 500 kB\n")
        .unwrap();
    fs::write(root.join("proc/loadavg"), "0.10 0.20 0.30 1/100 7\n").unwrap();
    let uevent = "POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_STATUS=Discharging\nPOWER_SUPPLY_CAPACITY=50\n";
    fs::write(root.join("sys/class/power_supply/BAT0/uevent"), uevent).unwrap();
    Simulated { root, monotonic: 1000, realtime: 1_700_000_000, received: 0, busy: 0, idle: 0 }
}

#[test]
fn a_day_of_ticks_with_suspends_and_clocks_that_are_set() {
    let mut machine = machine();
    machine.write();
    let context =
        SegmentContext { roots: Roots::captured(&machine.root), notifier: None, past: None, before: None };
    let config = read(CONFIG, None).unwrap_or_else(|fault| panic!("{}", fault.in_text("simulation", CONFIG)));
    let mut line = Line::open(config, &context).unwrap();
    let zone = TimeZone::UTC;
    let clock =
        |seconds: u64| format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    for tick in 0..TICKS {
        machine.monotonic += 1;
        machine.realtime += 1;
        machine.busy += 30;
        machine.idle += 70;
        machine.received += 500;
        match tick {
            // A lid that is shut for an hour, twice; the counters stand still meanwhile.
            10_000 | 50_000 => {
                (machine.monotonic, machine.realtime) = (machine.monotonic + 3600, machine.realtime + 3600)
            }
            // A clock that is set, forward and back.
            20_000 => machine.realtime += 86_400,
            30_000 => machine.realtime -= 7_205,
            // An interface and a counter that begin anew, a battery that is taken out and put back.
            40_000 => machine.received = 3,
            60_000 => fs::rename(machine.root.join("sys/class/power_supply/BAT0"), machine.root.join("away"))
                .unwrap(),
            60_100 => fs::rename(machine.root.join("away"), machine.root.join("sys/class/power_supply/BAT0"))
                .unwrap(),
            _ => {}
        }
        machine.write();
        let measured = allocation_counter::measure(|| {
            line.tick(Nanos(machine.realtime * SECOND), false, &context, &zone);
        });
        // Memory is allocated for the first line, and for a device that appears.
        let may_allocate = tick == 0 || (60_100..60_112).contains(&tick);
        assert!(measured.count_total == 0 || may_allocate, "tick {tick}: {measured:?}");
        let text: Vec<&str> = line.blocks().iter().map(|block| block.text.as_str()).collect();
        let [net, cpu, memory, load, battery, uptime, date, minute, ..] = text[..] else {
            panic!("{text:?}")
        };
        assert_eq!(date, clock(machine.realtime), "tick {tick}");
        assert_eq!(minute, &clock(machine.realtime)[..5], "tick {tick}");
        assert!(!net.contains('-') && net.starts_with("eth0 "), "tick {tick}: {net}");
        assert!(cpu.starts_with("30 %"), "tick {tick}: {cpu}");
        assert_eq!((memory, load), ("mem 500 KiB 50 %", "load 0.10"), "tick {tick}");
        let up = Span(Nanos(machine.monotonic * SECOND)).to_string();
        assert_eq!(uptime, format!("up {up}"), "tick {tick}");
        // Within the time between two looks at the directory, and never longer.
        match tick {
            60_012..60_100 => assert_eq!(battery, "", "tick {tick}"),
            60_000..60_112 => {}
            _ => assert_eq!(battery, "bat 50 %", "tick {tick}"),
        }
        // A counter that began anew has no rate for once.
        assert_eq!(net.starts_with("eth0 –"), tick == 40_000, "tick {tick}: {net}");
        assert!(line.blocks().iter().all(|block| block.tone == Tone::Normal), "tick {tick}");
    }
    fs::remove_dir_all(&machine.root).unwrap();
}
