//! Replies of sysctl(3), field by field.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::outcome::Outcome;

/// When both machines were started, in seconds since 1970, and for how long they have run.
const BOOTED_S: i64 = 1_700_000_000;
pub(super) const UPTIME: &str = "86461.25";

/// Replies by the names of their nodes.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) replies: BTreeMap<String, Vec<u8>>,
}

impl Machine {
    pub(super) fn bytes(&mut self, name: impl Into<String>, bytes: Vec<u8>) {
        self.replies.insert(name.into(), bytes);
    }

    pub(super) fn int(&mut self, name: &str, value: i32) {
        self.bytes(name, value.to_le_bytes().into());
    }

    pub(super) fn long(&mut self, name: &str, value: u64) {
        self.bytes(name, value.to_le_bytes().into());
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.bytes(name, [text.as_bytes(), b"\0"].concat());
    }

    /// struct timeval.
    pub(super) fn booted(&mut self) {
        self.bytes("kern.boottime", [BOOTED_S.to_le_bytes(), 250_000_i64.to_le_bytes()].concat());
    }

    /// User, nice, system, interrupts, idle of each CPU; longs.
    pub(super) fn cpus(&mut self, ticks: &[[u64; 5]]) {
        let sum = |state: usize| ticks.iter().map(|cpu| cpu[state]).sum::<u64>();
        self.bytes("kern.cp_time", (0..5).flat_map(|state| sum(state).to_le_bytes()).collect());
        self.bytes("kern.cp_times", ticks.iter().flatten().flat_map(|ticks| ticks.to_le_bytes()).collect());
        // struct clockinfo: hz, tick, spare, stathz, profhz.
        let clock = [1000_i32, 1000, 0, 128, 8128];
        self.bytes("kern.clockrate", clock.iter().flat_map(|word| word.to_le_bytes()).collect());
        self.int("hw.ncpu", ticks.len() as i32);
    }

    /// struct loadavg: fixed-point averages and their scale; struct vmtotal: nine sizes and five counts of threads.
    pub(super) fn load(&mut self, averages: [f64; 3], threads: [i16; 5]) {
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
    pub(super) fn memory(&mut self, pages: [(&str, u32); 6]) {
        self.int("vm.stats.vm.v_page_size", 4096);
        for (name, pages) in pages {
            self.bytes(format!("vm.stats.vm.v_{name}"), pages.to_le_bytes().into());
        }
    }

    /// struct xswdev, version 2: the version, the device's number in 64 bits, flags, blocks and used blocks.
    pub(super) fn swap(&mut self, device: u32, blocks: u32, used: u32) {
        let words = [2, 0, 0x5d, 0, 0, blocks, used, 0];
        self.bytes(
            format!("vm.swap_info.{device}"),
            words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect(),
        );
    }

    /// struct ifmibdata.
    pub(super) fn interface(&mut self, row: u32, interface: &Interface) {
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
    pub(super) fn processes(&mut self, processes: &[Process]) {
        let all = processes.iter().flat_map(|process| process.record(0, 1));
        self.bytes("kern.proc.proc", all.collect());
        let threads = processes.iter().flat_map(|process| {
            (0..process.threads).flat_map(|thread| process.record(thread, process.threads))
        });
        self.bytes("kern.proc.proc_td", threads.collect());
    }

    pub(super) fn write(&self, directory: &Path, statfs: &str) -> Outcome {
        let write = |path: &Path, bytes: &[u8]| {
            fs::create_dir_all(path.parent().unwrap_or(path))
                .and_then(|()| fs::write(path, bytes))
                .map_err(|error| format!("{}: {error}", path.display()))
        };
        for (name, bytes) in &self.replies {
            write(&directory.join("sysctl").join(name), bytes)?;
        }
        write(&directory.join("uptime"), format!("{UPTIME}\n").as_bytes())?;
        write(&directory.join("statfs"), statfs.as_bytes())
    }
}

pub(super) struct Interface {
    pub(super) name: &'static str,
    pub(super) flags: u32,
    pub(super) kind: u8,
    pub(super) link_state: u8,
    pub(super) bits_per_second: u64,
    /// Received and sent.
    pub(super) packets: [u64; 2],
    pub(super) bytes: [u64; 2],
}

pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) ppid: u32,
    pub(super) uid: u32,
    pub(super) comm: &'static str,
    /// SRUN is 2, SSLEEP 3.
    pub(super) state: u8,
    pub(super) nice: i8,
    pub(super) threads: u32,
    /// Seconds after the machine's start.
    pub(super) started_s: i64,
    /// CPU time of all threads in user mode.
    pub(super) user_us: u64,
    pub(super) system_us: u64,
    pub(super) resident_pages: u64,
    pub(super) virtual_bytes: u64,
    pub(super) peak_resident_kib: u64,
    /// Minor and major faults, voluntary and involuntary switches.
    pub(super) counts: [u64; 4],
}

impl Process {
    /// The record of a thread, of which there are so many with equal shares of the times; of the process itself if it is the only one.
    pub(super) fn record(&self, thread: u32, threads: u32) -> Vec<u8> {
        let mut bytes = vec![0; 1088];
        let share = |us: u64| us / u64::from(threads);
        let (user_us, system_us) = (share(self.user_us), share(self.system_us));
        let timeval = |us: u64| [(us / 1_000_000).to_le_bytes(), (us % 1_000_000).to_le_bytes()].concat();
        let fields: [(usize, Vec<u8>); 20] = [
            (0, 1088_u32.to_le_bytes().into()),
            (72, self.pid.to_le_bytes().into()),
            (76, self.ppid.to_le_bytes().into()),
            (172, self.uid.to_le_bytes().into()),
            (256, self.virtual_bytes.to_le_bytes().into()),
            (264, self.resident_pages.to_le_bytes().into()),
            (328, (user_us + system_us).to_le_bytes().into()),
            (336, (BOOTED_S + self.started_s).to_le_bytes().into()),
            (388, vec![self.state, self.nice.cast_unsigned()]),
            (447, self.comm.as_bytes().into()),
            (596, self.threads.to_le_bytes().into()),
            (600, (100_000 + self.pid * 100 + thread).to_le_bytes().into()),
            (608, timeval(user_us)),
            (624, timeval(system_us)),
            (640, self.peak_resident_kib.to_le_bytes().into()),
            (672, share(self.counts[0]).to_le_bytes().into()),
            (680, share(self.counts[1]).to_le_bytes().into()),
            (736, share(self.counts[2]).to_le_bytes().into()),
            (744, share(self.counts[3]).to_le_bytes().into()),
            (1080, (if self.comm == "idle" { 0x20_u64 } else { 0 }).to_le_bytes().into()),
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
