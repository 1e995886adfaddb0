//! A machine on which tasks start, work and end at random, and histories of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use facts::linux::taskstats::ExitInfo;
use facts::sample::Clock;
use facts::task::comm::Comm;
use facts::task::exit_record::ExitRecord;
use facts::task::figure::{Figure, FigureSet};
use facts::task::store::TaskStore;
use facts::task::{Accounting, Cause, TaskKey, TaskRow};
use facts::unit::Nanos;
use store::{Named, Retention, Store, TaskTick, Tick};

use super::machine::Random;
use super::scratch::Scratch;

const STARTED_AT_S: u64 = 1_700_000_000;
const ROUNDS: u64 = 900;

/// A machine on which tasks start, work, take other names, and end, most of them soon.
pub(super) struct Machine {
    random: Random,
    /// Seconds between two rounds.
    pub(super) step_s: u64,
    second: u64,
    living: BTreeMap<u32, TaskRow>,
    store: TaskStore,
    next_pid: u32,
    last_pid: u32,
    /// The name of processes that were never seen alive, if they have one of their own.
    pub(super) brief_comm: Option<Comm>,
}

impl Machine {
    pub(super) fn new(seed: u64, last_pid: u32) -> Self {
        let living = BTreeMap::new();
        Self {
            random: Random(seed),
            step_s: 1,
            second: 1000,
            living,
            store: TaskStore::default(),
            next_pid: 100,
            last_pid,
            brief_comm: None,
        }
    }

    fn clock(&self) -> Clock {
        let since_boot = Nanos(self.second * Nanos::SECOND.0 + 7_000_000);
        let realtime = Nanos(since_boot.0 + STARTED_AT_S * Nanos::SECOND.0);
        Clock { realtime, boottime: since_boot, monotonic: since_boot }
    }

    fn number(&mut self) -> u32 {
        loop {
            self.next_pid = if self.next_pid < self.last_pid { self.next_pid + 1 } else { 100 };
            if !self.living.contains_key(&self.next_pid) {
                return self.next_pid;
            }
        }
    }

    fn task(&mut self, process: Option<&TaskRow>) -> TaskRow {
        let lived = Nanos((self.random.below(900) + 1) * 1_000_000);
        let pid = self.number();
        let mut row = TaskRow {
            key: TaskKey { pid, start: self.clock().boottime.saturating_sub(lived) },
            tgid: Some(process.map_or(pid, TaskRow::process)),
            ppid: Some(self.living.keys().nth(self.random.below(3) as usize).copied().unwrap_or(1)),
            uid: process.map_or(Some(self.random.below(2) as u32 + 60_000), |process| process.uid),
            comm: process.map_or(Comm::new(&[b'a' + self.random.below(4) as u8]), |process| process.comm),
            state: Some(b'S'),
            accounting: Accounting::On,
            cgroup: process.map_or(Some(self.random.below(3) + 1), |process| process.cgroup),
            wall: lived,
            ..TaskRow::default()
        };
        FigureSet::COUNTERS.for_each(|figure| row.figures.set(figure, Some(0)));
        if self.random.below(3) == 0 {
            row.figures.set(Figure::delay(Cause::BlockIo), None);
        }
        self.work(&mut row, lived.0 / 4);
        row
    }

    fn work(&mut self, row: &mut TaskRow, most_ns: u64) {
        for figure in
            [Figure::ON_CPU, Figure::USER, Figure::delay(Cause::RunQueue), Figure::VOLUNTARY_SWITCHES]
        {
            let more = self.random.below(most_ns.max(1));
            row.figures.set(figure, row.figures.get(figure).map(|value| value + more));
        }
        row.figures.set(Figure::RESIDENT_BYTES, Some(4096 * self.random.below(1000)));
    }

    fn advance(&mut self) {
        self.second += self.step_s;
        self.store.begin(self.clock());
        let mut exits = Vec::new();
        for pid in self.living.keys().copied().collect::<Vec<_>>() {
            let mut row = self.living[&pid];
            row.wall = self.clock().boottime.saturating_sub(row.key.start);
            match self.random.below(20) {
                0 => {
                    self.living.remove(&pid);
                    self.store.remove(pid);
                    self.work(&mut row, 1_000_000);
                    exits.push(row);
                }
                chance @ 1..9 => {
                    self.work(&mut row, 200_000_000);
                    if chance == 1 {
                        row.comm = Comm::new(&[b'a' + self.random.below(4) as u8]);
                    }
                    self.living.insert(pid, row);
                    self.store.put(&row);
                }
                _ => {}
            }
        }
        for _ in 0..self.random.below(8) {
            let process = match self.random.below(4) {
                0 => self.living.values().find(|row| row.tgid == Some(row.key.pid)).copied(),
                _ => None,
            };
            let mut row = self.task(process.as_ref());
            if self.random.below(3) > 0 {
                if process.is_none() {
                    row.comm = self.brief_comm.unwrap_or(row.comm);
                }
                if self.random.below(4) == 0 {
                    exits.push(self.task(Some(&row)));
                }
                exits.push(row);
            } else {
                self.living.insert(row.key.pid, row);
                self.store.put(&row);
            }
        }
        let now = self.clock().boottime;
        let exit = ExitInfo { code: 0, flags: 0x20 };
        let between = (now.saturating_sub(Nanos::SECOND), now);
        let record = |row: &TaskRow| ExitRecord { row: *row, exit, between, tick: Nanos(4_000_000) };
        self.store.finish(&mut exits.iter().map(record).collect());
    }

    /// Records it in two runs of a recorder.
    fn record(&mut self, path: &Path) {
        for rounds in [ROUNDS / 3, ROUNDS - ROUNDS / 3] {
            self.store = TaskStore::default();
            let mut store = Store::open(path, Retention::default()).unwrap();
            store.name("boot", Named::Cgroup(1), "/a/one.service");
            store.name("boot", Named::Cgroup(2), "/lxc/two");
            // A recorder that begins reads all tasks.
            self.second += 1;
            self.store.begin(self.clock());
            self.living.values().for_each(|row| self.store.put(row));
            self.store.finish(&mut Vec::new());
            self.append(&mut store);
            for _ in 1..rounds {
                self.advance();
                self.append(&mut store);
            }
            store.close().unwrap();
        }
    }

    fn append(&self, store: &mut Store) {
        let tasks = TaskTick { store: &self.store, lost_exits: 0 };
        let tick = Tick { clock: self.store.clock(), boot_id: "boot", values: &[], tasks: Some(tasks) };
        store.append(&tick).unwrap();
    }
}

pub(super) fn recorded(name: &str, seed: u64, last_pid: u32) -> (Scratch, PathBuf) {
    record(name, seed, Machine::new(seed, last_pid))
}

pub(super) fn record(name: &str, seed: u64, mut machine: Machine) -> (Scratch, PathBuf) {
    let scratch = Scratch::new(&format!("{name}-{seed}"));
    let path = scratch.history();
    machine.record(&path);
    (scratch, path)
}
