//! Composes fixtures/freebsd-13 and fixtures/freebsd-14: replies of sysctl(3) by the layouts of FreeBSD's headers.
//!
//! The offsets are written out here and not taken from the reader, which would then agree with itself. `make freebsd` compares them
//! with the headers.

mod machines;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::outcome::Outcome;
use machines::{laptop, server};

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
