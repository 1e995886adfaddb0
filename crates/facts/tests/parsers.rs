//! Every parser of a kernel file: on the captured machines, on those cut and altered, and on any bytes.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use facts::cursor::Malformed;
use facts::linux;
use proptest::prelude::*;

type Parse = fn(&[u8]) -> Result<(), Malformed>;

macro_rules! parsers {
    ($($path:literal => $kind:ty,)*) => {
        /// The file below a captured machine's root, and its parser.
        const PARSERS: &[(&str, Parse)] = &[$(($path, |bytes| <$kind>::default().parse(bytes)),)*];
    };
}

parsers! {
    "proc/stat" => linux::stat::Stat,
    "proc/meminfo" => linux::meminfo::MemInfo,
    "proc/zoneinfo" => linux::zoneinfo::ZoneInfo,
    "proc/vmstat" => linux::vmstat::VmStat,
    "proc/loadavg" => linux::loadavg::LoadAverage,
    "proc/uptime" => linux::uptime::Uptime,
    "proc/net/dev" => linux::net_dev::NetDev,
    "proc/diskstats" => linux::diskstats::DiskStats,
    "proc/pressure/cpu" => linux::pressure::Pressure,
    "proc/pressure/irq" => linux::pressure::Pressure,
    "proc/self/cgroup" => linux::cgroup::CgroupMembership,
    "proc/sys/kernel/osrelease" => linux::version::KernelVersion,
    "proc/1/stat" => linux::pid_stat::PidStat,
    "proc/1/status" => linux::pid_status::PidStatus,
    "proc/1/task/1/schedstat" => linux::pid_schedstat::PidSchedstat,
    "proc/spl/kstat/zfs/arcstats" => linux::arcstats::ArcStats,
    "sys/class/power_supply/BAT0/uevent" => linux::power_supply::PowerSupply,
    "sys/fs/cgroup/memory/batch/memory.stat" => linux::cgroup_memory::CgroupMemoryStat,
}

/// Those that are functions, or have no file of a fixed name.
const OTHERS: &[(&str, Parse)] = &[
    ("proc/self/mounts", |bytes| linux::mounts::parse(bytes, &mut Vec::new())),
    ("io", |bytes| linux::pid_io::PidIo::default().parse(bytes)),
    ("cpu.stat", |bytes| linux::cgroup_cpu::CgroupCpuStat::default().parse(bytes)),
    ("cpuacct.usage", |bytes| linux::cgroup_cpu::usage(bytes).map(drop)),
    ("memory.max", |bytes| linux::cgroup_memory::limit(bytes).map(drop)),
    ("memory.current", |bytes| linux::cgroup_memory::usage(bytes).map(drop)),
    ("io.stat", |bytes| linux::cgroup_io::CgroupIo::default().parse_v2(bytes)),
    ("blkio", |bytes| linux::cgroup_io::CgroupIo::default().parse_v1(bytes)),
    ("temp1_input", |bytes| linux::sensors::millidegrees(bytes).map(drop)),
    ("operstate", |bytes| {
        linux::net_attributes::operational_state(bytes);
        Ok(())
    }),
    ("carrier", |bytes| linux::net_attributes::carrier(bytes).map(drop)),
    ("speed", |bytes| linux::net_attributes::speed_mbit(bytes).map(drop)),
    ("scaling_cur_freq", |bytes| linux::cpufreq::scaling_kilohertz(bytes).map(drop)),
    ("cpuinfo", |bytes| {
        linux::cpufreq::cpuinfo_kilohertz(bytes, &mut Vec::new());
        Ok(())
    }),
    ("brightness", |bytes| linux::backlight::steps(bytes).map(drop)),
    ("type", |bytes| {
        linux::net_attributes::LinkKind::new(bytes, bytes, false);
        Ok(())
    }),
    ("nl80211", |bytes| {
        let mut station = linux::nl80211::Station::default();
        station.take_interface(linux::genetlink::Attributes(bytes));
        station.take_station(linux::genetlink::Attributes(bytes));
        Ok(())
    }),
    ("rtnetlink", |bytes| {
        for message in linux::genetlink::Messages::new(bytes).map_while(Result::ok) {
            linux::rtnetlink::Address::new(&message);
        }
        Ok(())
    }),
    ("mm_stat", |bytes| linux::zram::Zram::default().add(bytes)),
    ("cmdline", |bytes| {
        linux::pid_cmdline::words(bytes).for_each(drop);
        Ok(())
    }),
    ("netlink", |bytes| {
        for message in linux::genetlink::Messages::new(bytes) {
            message?.attributes().for_each(drop);
        }
        Ok(())
    }),
];

fn machines() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut machines: Vec<_> = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()).collect();
    machines.sort();
    assert!(machines.len() >= 9, "{machines:?}");
    machines
}

/// Every file of every machine that a parser has, with the parser.
fn captured_files() -> Vec<(PathBuf, Vec<u8>, Parse)> {
    let parsers = || PARSERS.iter().chain(&OTHERS[..1]);
    let files = machines().into_iter().flat_map(|machine| {
        parsers().filter_map(move |(path, parse)| {
            let path = machine.join(path);
            fs::read(&path).ok().map(|bytes| (path, bytes, *parse))
        })
    });
    files.collect()
}

#[test]
fn every_captured_file_is_understood() {
    let files = captured_files();
    for (path, bytes, parse) in &files {
        assert_eq!(parse(bytes), Ok(()), "{}", path.display());
    }
    for (name, _) in PARSERS {
        assert!(files.iter().any(|(path, ..)| path.ends_with(name)), "no machine has {name}");
    }
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    for (_, bytes, parse) in captured_files() {
        // Every place of a small file, and some of a large one.
        let step = (bytes.len() / 400).max(1);
        for length in (0..bytes.len()).step_by(step) {
            let _ = parse(&bytes[..length]);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        for (_, parse) in PARSERS.iter().chain(OTHERS) {
            if let Err(Malformed { offset, .. }) = parse(&bytes) {
                prop_assert!(offset <= bytes.len());
            }
        }
    }

    #[test]
    fn what_looks_like_a_kernel_file_is_read_or_refused(
        text in "(cpu|Node 0, zone|MemTotal:|some avg10=|[a-z0-9_]{1,8}|[ :()=/-]|[0-9]{1,21}| kB|\n){0,120}",
    ) {
        for (_, parse) in PARSERS.iter().chain(OTHERS) {
            let _ = parse(text.as_bytes());
        }
    }

    #[test]
    fn an_altered_file_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let files = captured_files();
        let (_, bytes, parse) = which.get(&files);
        let mut bytes = bytes.clone();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let _ = parse(&bytes);
    }
}
