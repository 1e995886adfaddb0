//! Files of /proc and /sys as odd machines have them, each with where it is met and the right value.

#![allow(clippy::unwrap_used)]

use std::fmt::Debug;

use facts::linux::cgroup_cpu::CpuQuota;
use facts::linux::cgroup_memory;
use facts::linux::diskstats::DiskStats;
use facts::linux::loadavg::LoadAverage;
use facts::linux::meminfo::{MemInfo, MemInfoField};
use facts::linux::mounts::{self, Mount};
use facts::linux::net_attributes;
use facts::linux::net_dev::NetDev;
use facts::linux::pid_stat::PidStat;
use facts::linux::pid_status::PidStatus;
use facts::linux::power_supply::{BatteryStatus, PowerSupply};
use facts::linux::pressure::Pressure;
use facts::linux::sensors::millidegrees;
use facts::linux::stat::Stat;
use facts::linux::uptime::Uptime;
use facts::memory::{HugePages, MemoryBreakdown, Swap};
use facts::sample::Space;
use facts::unit::Bytes;

/// Compares what is read with what is right.
fn is_right<T: PartialEq + Debug>(met: &str, read: T, right: T) {
    assert_eq!(read, right, "{met}");
}

fn meminfo(text: &str) -> MemInfo {
    let mut memory = MemInfo::default();
    memory.parse(format!("MemTotal: 1000 kB\nMemFree: 100 kB\n{text}").as_bytes()).unwrap();
    memory
}

fn field(text: &str, field: MemInfoField) -> Option<u64> {
    meminfo(text).get(field).map(|bytes| bytes / 1024)
}

#[test]
fn memory() {
    use MemInfoField::{Cached, HugePagesTotal, MemAvailable, Percpu, SwapFree};
    let swap = |text: &str| Swap::new(&meminfo(text)).map(|swap| (swap.total.0, swap.used.0, swap.free.0));
    is_right(
        "lxcfs, more swapped than the container may",
        swap("SwapTotal: 0 kB\nSwapFree: 18446744073709551488 kB\n"),
        None,
    );
    is_right("lxcfs, total lowered below what is free", swap("SwapTotal: 4 kB\nSwapFree: 8 kB\n"), None);
    is_right("a kernel without swap", swap(""), None);
    is_right("a machine with swap off", swap("SwapTotal: 0 kB\nSwapFree: 0 kB\n"), Some((0, 0, 0)));
    is_right("a container beside the machine's figures", field("Percpu: 5000 kB\n", Percpu), None);
    is_right(
        "a container whose available is the machine's",
        field("MemAvailable: 64000 kB\n", MemAvailable),
        None,
    );
    is_right(
        "lxcfs, a cache that shrank while it was read",
        field("Cached: 18446744073709551600 kB\n", Cached),
        None,
    );
    is_right("a value in bytes without a unit", meminfo("HugePages_Total: 7\n").get(HugePagesTotal), Some(7));
    is_right("a tab instead of blanks", field("MemAvailable:\t 900 kB\n", MemAvailable), Some(900));
    is_right(
        "a kernel that ends the file without a newline",
        field("SwapFree: 1 kB\nSwapTotal: 2 kB", SwapFree),
        Some(1),
    );
    is_right("a pool of huge pages of no size", HugePages::new(&meminfo("HugePages_Total: 5\n")), None);
    // Parts that exceed the total for a moment: the rest is below zero, and nothing wraps.
    let parts = MemoryBreakdown::new(&meminfo("AnonPages: 600 kB\nBuffers: 500 kB\n"));
    is_right("counters of many CPUs that are added up late", parts.others_bytes, (900 - 1100) * 1024);
    is_right(
        "the same, each part",
        (parts.anonymous, parts.caches.buffers),
        (Bytes(600 << 10), Bytes(500 << 10)),
    );
}

#[test]
fn batteries() {
    let supply = |lines: &str, kind: Option<&[u8]>| {
        let text: String = lines.split(' ').map(|line| format!("POWER_SUPPLY_{line}\n")).collect();
        let mut supply = PowerSupply::default();
        supply.parse_of_type(text.as_bytes(), kind).map(|()| supply).ok()
    };
    let power = |lines: &str| supply(lines, None).and_then(|supply| supply.power_now_uw);
    is_right("a driver that signs its power", power("TYPE=Battery POWER_NOW=-12000000"), Some(12_000_000));
    is_right(
        "a laptop before Linux 5.8, by energy",
        supply("ENERGY_NOW=1", None).map(|one| one.is_battery),
        Some(true),
    );
    is_right("the same with a charger only", supply("ONLINE=1", None).map(|one| one.is_battery), Some(false));
    is_right(
        "the same with the file type",
        supply("PRESENT=1", Some(b"Battery\n")).map(|one| one.is_battery),
        Some(true),
    );
    is_right(
        "a mouse",
        supply("TYPE=Battery SCOPE=Device CAPACITY=5", None).map(|one| one.is_battery),
        Some(false),
    );
    is_right(
        "a bay without its battery",
        supply("TYPE=Battery PRESENT=0", None).map(|one| one.present),
        Some(false),
    );
    is_right(
        "a phone with a status of its own",
        supply("TYPE=Battery STATUS=Taper", None).map(|one| one.status),
        Some(BatteryStatus::Unknown),
    );
    let full =
        supply("TYPE=Battery CHARGE_NOW=1 CHARGE_FULL_DESIGN=4", None).and_then(|one| one.charge_full_uah);
    is_right("a tablet that knows its design alone", full, Some(4));
}

#[test]
fn counters() {
    let mut stat = Stat::default();
    stat.parse(b"cpu  4 3 2 1\ncpu0 1 1 1 1\ncpu7 3 2 1 0 7 1 1 0 0 0\nintr 9\nctxt 5\nbtime 6\n").unwrap();
    is_right(
        "CPUs 1 to 6 are offline",
        stat.cpus.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        vec![0, 7],
    );
    let mut net = NetDev::default();
    net.parse(
        b"h1\nh2\n  tun1:1: 5 0 0 0 0 0 0 0 6 0 0 0 0 0 0 0\neth0:4294967295 1 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n\
          veth\xc3\xa9: 1 0 0 0 0 0 0 0 2 0 0 0\n",
    )
    .unwrap();
    let names: Vec<&[u8]> = net.interfaces.iter().map(|interface| interface.name.as_bytes()).collect();
    is_right(
        "an alias with a colon, no blank behind a colon, a name in UTF-8",
        names,
        vec![&b"tun1:1"[..], b"eth0", b"veth\xc3\xa9"],
    );
    is_right("a counter of 32 bits at its end", net.interfaces[1].received_bytes, 4_294_967_295);
    let mut disks = DiskStats::default();
    disks
        .parse(
            b"   8 0 sda 1 2 3 4 5 6 7 8 0 10 11\n   8 1 sda1 1 2 3 4\n   8 2 sda2 1 2 3 4 5 6 7 8 0 10 11\n\
              259 0 nvme0n1 1 2 3 4 5 6 7 8 0 10 11 1 0 1 0 3 1\n  1 0 ram0 0 0 0 0 0 0 0 0 0 0 0\n",
        )
        .unwrap();
    let names: Vec<&str> = disks.disks.iter().map(|disk| disk.name.as_str()).collect();
    is_right(
        "a partition with four figures, as before 2.6.25",
        names,
        vec!["sda", "sda2", "nvme0n1", "ram0"],
    );
    is_right(
        "flushes since 5.5, and none before",
        (disks.disks[2].flushes, disks.disks[0].flushes),
        (Some(3), None),
    );
    is_right("a partition is none of the whole disks", disks.disks[1].is_whole, false);
    let mut load = LoadAverage::default();
    is_right("Android, which refuses: an empty file", load.parse(b"").is_err(), true);
    is_right("Android, the same of the uptime", Uptime::default().parse(b"").is_err(), true);
    let mut pressure = Pressure::default();
    is_right("a kernel with psi=0, whose files are empty", pressure.parse(b"").is_err(), true);
    is_right(
        "irq pressure without some",
        pressure.parse(b"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n").is_ok(),
        true,
    );
}

#[test]
fn tasks() {
    let name = |comm: &[u8]| {
        let text = [b"7 (", comm, b") S 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 -5 1 0 99 4096 1 0"].concat();
        let mut stat = PidStat::default();
        stat.parse(&text).map(|()| (stat.comm.as_bytes().to_vec(), stat.nice, stat.ppid)).ok()
    };
    for comm in [&b"a) S 9"[..], b"a b", b"(sd-pam)", b"a\nb", b")", b"", b"tmux: server", b"\xff\xfe"] {
        is_right(
            "a name with parentheses, blanks, newlines or no text",
            name(comm),
            Some((comm.to_vec(), -5, 1)),
        );
    }
    let mut status = PidStatus::default();
    is_right(
        "a status whose name has a newline, escaped",
        status.parse(b"Name:\ta\\nb\nPid:\t7\nUid:\t5\t5\t5\t5\n").is_ok(),
        true,
    );
}

#[test]
fn mounts_and_limits() {
    let mut mounts: Vec<Mount> = Vec::new();
    mounts::parse(b"/dev/sda1 /a\\134b\\011c\\012d\\040e ext4 rw 0 0\nnone /x\\043 tmpfs rw\n", &mut mounts)
        .unwrap();
    is_right(
        "a backslash, a tab, a newline and a blank in a name",
        mounts[0].target.as_slice(),
        &b"/a\\b\tc\nd e"[..],
    );
    is_right("a # since Linux 5.6, and a line of four words", mounts[1].target.as_slice(), &b"/x#"[..]);
    is_right(
        "cgroup v1 without a limit, pages of 4 KiB",
        cgroup_memory::limit(b"9223372036854771712\n"),
        Ok(None),
    );
    is_right(
        "cgroup v1 without a limit, pages of 64 KiB",
        cgroup_memory::limit(b"9223372036854710272\n"),
        Ok(None),
    );
    is_right("cgroup v2 without a limit", cgroup_memory::limit(b"max\n"), Ok(None));
    is_right("a limit of nothing", cgroup_memory::limit(b"0\n"), Ok(Some(Bytes(0))));
    is_right("cgroup v1 without a quota", CpuQuota::parse_v1(b"-1\n").ok().flatten(), None);
    is_right("a loopback, which has no speed", net_attributes::speed_mbit(b"").ok().flatten(), None);
    is_right(
        "a virtual interface whose speed is -1",
        net_attributes::speed_mbit(b"-1\n").ok().flatten(),
        None,
    );
    is_right(
        "a driver whose unknown speed is 2^32 - 1",
        net_attributes::speed_mbit(b"4294967295\n").ok().flatten(),
        None,
    );
}

#[test]
fn space() {
    let space = |total, free, inodes, free_inodes| {
        let (total, free) = (Bytes(total), Bytes(free));
        let space = Space { total, free, available: free, inodes, free_inodes, is_read_only: None };
        space.if_possible().map(|space| space.inodes)
    };
    is_right("a remote filesystem of which more is free than there is", space(10, 11, 0, 0), None);
    is_right("one that counts free inodes alone", space(10, 5, 0, 7), Some(0));
    is_right("one without blocks", space(0, 0, 0, 0), Some(0));
    is_right("one that makes inodes as needed", space(10, 10, 0, 0), Some(0));
    is_right("an ordinary one", space(10, 10, 9, 8), Some(9));
}

#[test]
fn sensors() {
    is_right("an input that is not connected", millidegrees(b"-60000\n").ok(), None);
    is_right("another one", millidegrees(b"-128000\n").ok(), None);
    is_right("a driver that takes a fault for a value", millidegrees(b"2147483647\n").ok(), None);
    is_right("an 8-bit input that is not connected", millidegrees(b"255000\n").ok(), None);
    is_right("a machine in the cold", millidegrees(b"-12500\n").ok(), Some(-12_500));
    is_right("a hot part of a graphics card", millidegrees(b"112000\n").ok(), Some(112_000));
    is_right("a file that is empty", millidegrees(b"").ok(), None);
}
