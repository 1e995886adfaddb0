//! Composes fixtures/freebsd-13 and fixtures/freebsd-14: replies of sysctl(3) by the layouts of FreeBSD's headers.
//!
//! The offsets are written out here and not taken from the reader, which would then agree with itself. `make freebsd` compares them
//! with the headers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::outcome::Outcome;

/// When both machines were started, in seconds since 1970, and for how long they have run.
const BOOTED_S: i64 = 1_700_000_000;
const UPTIME: &str = "86461.25";

/// Replies by the names of their nodes.
#[derive(Default)]
struct Machine(BTreeMap<String, Vec<u8>>);

impl Machine {
    fn bytes(&mut self, name: impl Into<String>, bytes: Vec<u8>) {
        self.0.insert(name.into(), bytes);
    }

    fn int(&mut self, name: &str, value: i32) {
        self.bytes(name, value.to_le_bytes().into());
    }

    fn long(&mut self, name: &str, value: u64) {
        self.bytes(name, value.to_le_bytes().into());
    }

    fn text(&mut self, name: &str, text: &str) {
        self.bytes(name, [text.as_bytes(), b"\0"].concat());
    }

    /// struct timeval.
    fn booted(&mut self) {
        self.bytes("kern.boottime", [BOOTED_S.to_le_bytes(), 250_000_i64.to_le_bytes()].concat());
    }

    /// User, nice, system, interrupts, idle of each CPU; longs.
    fn cpus(&mut self, ticks: &[[u64; 5]]) {
        let sum = |state: usize| ticks.iter().map(|cpu| cpu[state]).sum::<u64>();
        self.bytes("kern.cp_time", (0..5).flat_map(|state| sum(state).to_le_bytes()).collect());
        self.bytes("kern.cp_times", ticks.iter().flatten().flat_map(|ticks| ticks.to_le_bytes()).collect());
        self.int("hw.ncpu", ticks.len() as i32);
    }

    /// struct loadavg: fixed-point averages and their scale; struct vmtotal: nine sizes and five counts of threads.
    fn load(&mut self, averages: [f64; 3], threads: [i16; 5]) {
        let mut bytes: Vec<u8> =
            averages.iter().flat_map(|average| ((average * 2048.0) as u32).to_le_bytes()).collect();
        bytes.extend([0; 4]);
        bytes.extend(2048_u64.to_le_bytes());
        self.bytes("vm.loadavg", bytes);
        let mut total = vec![0; 72];
        total.extend(threads.iter().chain(&[0; 3]).flat_map(|count| count.to_le_bytes()));
        self.bytes("vm.vmtotal", total);
    }

    /// Unsigned ints: pages.
    fn memory(&mut self, pages: [(&str, u32); 6]) {
        self.int("vm.stats.vm.v_page_size", 4096);
        for (name, pages) in pages {
            self.bytes(format!("vm.stats.vm.v_{name}"), pages.to_le_bytes().into());
        }
    }

    /// struct xswdev, version 2: version, flags and the device's number, a word each and two, then blocks and used blocks.
    fn swap(&mut self, device: u32, blocks: u32, used: u32) {
        let words = [2, 0, 0x5d, 0, 0, blocks, used, 0];
        self.bytes(
            format!("vm.swap_info.{device}"),
            words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect(),
        );
    }

    /// struct ifmibdata.
    fn interface(&mut self, row: u32, interface: &Interface) {
        let mut bytes = vec![0; 208];
        put(&mut bytes, 0, interface.name.as_bytes());
        put(&mut bytes, 20, &interface.flags.to_le_bytes());
        (bytes[56], bytes[60]) = (interface.kind, interface.link_state);
        let counters = [
            (72, interface.bits_per_second),
            (80, interface.packets[0]),
            (96, interface.packets[1]),
            (120, interface.bytes[0]),
            (128, interface.bytes[1]),
        ];
        for (offset, value) in counters {
            put(&mut bytes, offset, &value.to_le_bytes());
        }
        self.bytes(format!("net.link.generic.ifdata.{row}"), bytes);
    }

    /// struct kinfo_proc: one for each process, and one for each of its threads.
    fn processes(&mut self, processes: &[Process]) {
        let all = processes.iter().flat_map(|process| process.record(0));
        self.bytes("kern.proc.proc", all.collect());
        let threads = processes
            .iter()
            .flat_map(|process| (0..process.threads).flat_map(|thread| process.record(thread)));
        self.bytes("kern.proc.proc.threads", threads.collect());
    }

    fn write(&self, directory: &Path, statfs: &str) -> Outcome {
        let write = |path: &Path, bytes: &[u8]| {
            fs::create_dir_all(path.parent().unwrap_or(path))
                .and_then(|()| fs::write(path, bytes))
                .map_err(|error| format!("{}: {error}", path.display()))
        };
        for (name, bytes) in &self.0 {
            write(&directory.join("sysctl").join(name), bytes)?;
        }
        write(&directory.join("uptime"), format!("{UPTIME}\n").as_bytes())?;
        write(&directory.join("statfs"), statfs.as_bytes())
    }
}

struct Interface {
    name: &'static str,
    flags: u32,
    kind: u8,
    link_state: u8,
    bits_per_second: u64,
    /// Received and sent.
    packets: [u64; 2],
    bytes: [u64; 2],
}

struct Process {
    pid: u32,
    ppid: u32,
    uid: u32,
    comm: &'static str,
    /// SRUN is 2, SSLEEP 3.
    state: u8,
    nice: i8,
    threads: u32,
    /// Seconds after the machine's start.
    started_s: i64,
    /// Of all threads.
    user_us: u64,
    system_us: u64,
    resident_pages: u64,
    virtual_bytes: u64,
    peak_resident_kib: u64,
    /// Minor and major faults, voluntary and involuntary switches.
    counts: [u64; 4],
}

impl Process {
    /// A thread's share of the times is the same for all; the process itself is the record of thread 0.
    fn record(&self, thread: u32) -> Vec<u8> {
        let mut bytes = vec![0; 1088];
        let timeval = |us: u64| [(us / 1_000_000).to_le_bytes(), (us % 1_000_000).to_le_bytes()].concat();
        let fields: [(usize, Vec<u8>); 19] = [
            (0, 1088_u32.to_le_bytes().into()),
            (72, self.pid.to_le_bytes().into()),
            (76, self.ppid.to_le_bytes().into()),
            (172, self.uid.to_le_bytes().into()),
            (256, self.virtual_bytes.to_le_bytes().into()),
            (264, self.resident_pages.to_le_bytes().into()),
            (328, (self.user_us + self.system_us).to_le_bytes().into()),
            (336, (BOOTED_S + self.started_s).to_le_bytes().into()),
            (388, vec![self.state, self.nice.cast_unsigned()]),
            (447, self.comm.as_bytes().into()),
            (596, self.threads.to_le_bytes().into()),
            (600, (100_000 + self.pid * 100 + thread).to_le_bytes().into()),
            (608, timeval(self.user_us)),
            (624, timeval(self.system_us)),
            (640, self.peak_resident_kib.to_le_bytes().into()),
            (672, self.counts[0].to_le_bytes().into()),
            (680, self.counts[1].to_le_bytes().into()),
            (736, self.counts[2].to_le_bytes().into()),
            (744, self.counts[3].to_le_bytes().into()),
        ];
        for (offset, field) in fields {
            put(&mut bytes, offset, &field);
        }
        bytes
    }
}

fn put(bytes: &mut [u8], offset: usize, field: &[u8]) {
    bytes[offset..offset + field.len()].copy_from_slice(field);
}

/// Writes both fixtures below a directory.
pub(crate) fn run(directory: &Path) -> Outcome {
    laptop()
        .write(&directory.join("freebsd-13"), "/ 245107195904 98765432100 79157856428 31000000 29500000\n")?;
    server().write(
        &directory.join("freebsd-14"),
        "/ 3960000000000 3100000000000 3100000000000 7000000000 6900000000\n",
    )
}

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
fn laptop() -> Machine {
    let mut machine = Machine::default();
    machine.booted();
    machine.text("kern.osrelease", "13.3-RELEASE-p4");
    machine.cpus(&[[402_000, 120, 150_000, 9_000, 10_505_000], [398_000, 80, 151_000, 1_000, 10_516_000]]);
    machine.long("vm.stats.sys.v_swtch", 512_345_678);
    machine.int("vm.stats.vm.v_forks", 76_543);
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
            kind: 0x47,
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
            uid: 1001,
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
            uid: 1001,
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
fn server() -> Machine {
    let mut machine = Machine::default();
    machine.booted();
    machine.text("kern.osrelease", "14.1-RELEASE-p5");
    let cpu = |number: u64| [900_000 + number * 1000, 0, 310_000, 25_000, 9_811_000 - number * 1000];
    machine.cpus(&[0, 1, 2, 3, 4, 5, 6, 7].map(cpu));
    machine.long("vm.stats.sys.v_swtch", 9_876_543_210);
    machine.int("vm.stats.vm.v_forks", 1_234_567);
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
            uid: 70,
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
            uid: 80,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixtures_are_as_composed() {
        for (name, machine) in [("freebsd-13", laptop()), ("freebsd-14", server())] {
            let directory =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name).join("sysctl");
            let mut names: Vec<String> = fs::read_dir(&directory)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            assert_eq!(names, machine.0.keys().cloned().collect::<Vec<_>>(), "{name}");
            for (node, bytes) in &machine.0 {
                assert_eq!(&fs::read(directory.join(node)).unwrap(), bytes, "{name}: {node}");
            }
        }
    }
}
