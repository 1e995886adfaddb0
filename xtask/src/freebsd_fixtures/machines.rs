//! The machines.

use super::replies::{Interface, Machine, Process};

fn loopback() -> Interface {
    Interface {
        name: "lo0",
        flags: 0x8049,
        kind: 0x18,
        link_state: 2,
        bits_per_second: 0,
        packets: [1200, 1200],
        bytes: [98_304, 98_304],
    }
}

/// FreeBSD 13 on a laptop with UFS: a battery, sensors, a wireless interface.
pub(super) fn laptop() -> Machine {
    let mut machine = Machine::default();
    machine.booted();
    machine.text("kern.osrelease", "13.3-RELEASE-p4");
    machine.cpus(&[[402_000, 120, 150_000, 9_000, 10_505_000], [398_000, 80, 151_000, 1_000, 10_516_000]]);
    machine.long("vm.stats.sys.v_swtch", 512_345_678);
    machine.load([0.53, 0.42, 0.31], [2, 1, 0, 410, 3]);
    machine.memory([
        ("page_count", 2_010_000),
        ("free_count", 402_000),
        ("active_count", 610_000),
        ("inactive_count", 520_000),
        ("laundry_count", 31_000),
        ("wire_count", 447_000),
    ]);
    machine.swap(0, 524_288, 2_048);
    machine.int("net.link.generic.system.ifcount", 3);
    machine.interface(
        1,
        &Interface {
            name: "em0",
            flags: 0x8843,
            kind: 6,
            link_state: 1,
            bits_per_second: 0,
            packets: [0, 0],
            bytes: [0, 0],
        },
    );
    machine.interface(2, &loopback());
    machine.interface(
        3,
        &Interface {
            name: "wlan0",
            flags: 0x8843,
            kind: 6,
            link_state: 2,
            bits_per_second: 144_000_000,
            packets: [3_000_000, 1_500_000],
            bytes: [4_123_456_789, 234_567_890],
        },
    );
    for (cpu, tenths_of_kelvin) in [(0, 3231), (1, 3251)] {
        machine.int(&format!("dev.cpu.{cpu}.temperature"), tenths_of_kelvin);
    }
    machine.int("dev.cpu.0.freq", 2400);
    machine.int("hw.acpi.thermal.tz0.temperature", 3182);
    for (name, value) in [("state", 1), ("life", 74), ("time", 155), ("rate", 9_700)] {
        machine.int(&format!("hw.acpi.battery.{name}"), value);
    }
    machine.int("hw.acpi.acline", 0);
    machine.processes(&[
        Process {
            pid: 0,
            ppid: 0,
            uid: 0,
            comm: "kernel",
            state: 3,
            nice: 0,
            threads: 12,
            started_s: 0,
            user_us: 0,
            system_us: 96_000_000,
            resident_pages: 16,
            virtual_bytes: 0,
            peak_resident_kib: 0,
            counts: [0, 0, 9_600_000, 120],
        },
        Process {
            pid: 11,
            ppid: 0,
            uid: 0,
            comm: "idle",
            state: 2,
            nice: 0,
            threads: 2,
            started_s: 0,
            user_us: 0,
            system_us: 164000000000,
            resident_pages: 4,
            virtual_bytes: 0,
            peak_resident_kib: 0,
            counts: [0, 0, 0, 0],
        },
        Process {
            pid: 1,
            ppid: 0,
            uid: 0,
            comm: "init",
            state: 3,
            nice: 0,
            threads: 1,
            started_s: 1,
            user_us: 20_000,
            system_us: 310_000,
            resident_pages: 288,
            virtual_bytes: 11_866_112,
            peak_resident_kib: 1_152,
            counts: [900, 12, 640, 8],
        },
        Process {
            pid: 812,
            ppid: 1,
            uid: 0,
            comm: "syslogd",
            state: 3,
            nice: 0,
            threads: 1,
            started_s: 12,
            user_us: 410_000,
            system_us: 520_000,
            resident_pages: 700,
            virtual_bytes: 13_500_416,
            peak_resident_kib: 2_800,
            counts: [1_100, 3, 21_000, 90],
        },
        Process {
            pid: 2210,
            ppid: 2100,
            uid: 61_001,
            comm: "firefox",
            state: 3,
            nice: 0,
            threads: 48,
            started_s: 3_600,
            user_us: 3_600_000_000,
            system_us: 540_250_000,
            resident_pages: 180_000,
            virtual_bytes: 4_294_967_296,
            peak_resident_kib: 900_000,
            counts: [2_400_000, 310, 41_000_000, 2_200_000],
        },
        Process {
            pid: 2300,
            ppid: 2100,
            uid: 61_001,
            comm: "make",
            state: 2,
            nice: 10,
            threads: 1,
            started_s: 86_400,
            user_us: 41_000_000,
            system_us: 9_500_000,
            resident_pages: 5_000,
            virtual_bytes: 40_000_000,
            peak_resident_kib: 20_480,
            counts: [60_000, 0, 900, 30_000],
        },
    ]);
    machine
}

/// FreeBSD 14 on a server with ZFS: eight CPUs, two swap devices, an interface that was removed.
pub(super) fn server() -> Machine {
    let mut machine = Machine::default();
    machine.booted();
    machine.text("kern.osrelease", "14.1-RELEASE-p5");
    let cpu = |number: u64| [900_000 + number * 1000, 0, 310_000, 25_000, 9_811_000 - number * 1000];
    machine.cpus(&[0, 1, 2, 3, 4, 5, 6, 7].map(cpu));
    machine.long("vm.stats.sys.v_swtch", 9_876_543_210);
    machine.load([3.25, 2.75, 2.5], [5, 2, 0, 1_900, 0]);
    machine.memory([
        ("page_count", 16_400_000),
        ("free_count", 1_200_000),
        ("active_count", 2_300_000),
        ("inactive_count", 1_900_000),
        ("laundry_count", 90_000),
        ("wire_count", 10_900_000),
    ]);
    machine.long("kstat.zfs.misc.arcstats.size", 31_000_000_000);
    machine.long("kstat.zfs.misc.arcstats.c_min", 2_100_000_000);
    machine.swap(0, 1_048_576, 0);
    machine.swap(1, 1_048_576, 4_096);
    machine.int("net.link.generic.system.ifcount", 4);
    machine.interface(
        1,
        &Interface {
            name: "ix0",
            flags: 0x8843,
            kind: 6,
            link_state: 2,
            bits_per_second: 10_000_000_000,
            packets: [8_000_000_000, 9_000_000_000],
            bytes: [7_123_456_789_012, 9_987_654_321_098],
        },
    );
    // Row 2 was an interface that is gone.
    machine.interface(3, &loopback());
    machine.interface(
        4,
        &Interface {
            name: "bridge0",
            flags: 0x8843,
            kind: 0xd1,
            link_state: 2,
            bits_per_second: 0,
            packets: [10, 20],
            bytes: [1_000, 2_000],
        },
    );
    for cpu in 0..8 {
        machine.int(&format!("dev.cpu.{cpu}.temperature"), 3_181 + cpu);
        machine.int(&format!("dev.cpu.{cpu}.freq"), 3_500);
    }
    machine.int("hw.acpi.battery.state", 7);
    machine.processes(&[
        Process {
            pid: 0,
            ppid: 0,
            uid: 0,
            comm: "kernel",
            state: 3,
            nice: 0,
            threads: 12,
            started_s: 0,
            user_us: 0,
            system_us: 96_000_000,
            resident_pages: 16,
            virtual_bytes: 0,
            peak_resident_kib: 0,
            counts: [0, 0, 9_600_000, 120],
        },
        Process {
            pid: 11,
            ppid: 0,
            uid: 0,
            comm: "idle",
            state: 2,
            nice: 0,
            threads: 8,
            started_s: 0,
            user_us: 0,
            system_us: 613000000000,
            resident_pages: 4,
            virtual_bytes: 0,
            peak_resident_kib: 0,
            counts: [0, 0, 0, 0],
        },
        Process {
            pid: 1,
            ppid: 0,
            uid: 0,
            comm: "init",
            state: 3,
            nice: 0,
            threads: 1,
            started_s: 1,
            user_us: 30_000,
            system_us: 900_000,
            resident_pages: 300,
            virtual_bytes: 11_902_976,
            peak_resident_kib: 1_200,
            counts: [1_000, 14, 700, 9],
        },
        Process {
            pid: 1450,
            ppid: 1,
            uid: 61_070,
            comm: "postgres",
            state: 3,
            nice: 0,
            threads: 1,
            started_s: 30,
            user_us: 21_600_000_000,
            system_us: 4_300_000_000,
            resident_pages: 2_000_000,
            virtual_bytes: 17_179_869_184,
            peak_resident_kib: 8_300_000,
            counts: [9_000_000, 1_200, 77_000_000, 5_000_000],
        },
        Process {
            pid: 1500,
            ppid: 1,
            uid: 61_080,
            comm: "nginx",
            state: 2,
            nice: -5,
            threads: 4,
            started_s: 31,
            user_us: 950_000_000,
            system_us: 1_900_000_000,
            resident_pages: 9_000,
            virtual_bytes: 120_000_000,
            peak_resident_kib: 40_000,
            counts: [80_000, 2, 310_000_000, 900_000],
        },
    ]);
    machine
}
