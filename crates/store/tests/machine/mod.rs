//! A machine whose tasks come, work and go, the same in each run.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::collections::BTreeMap;

use facts::linux::taskstats::ExitInfo;
use facts::sample::Clock;
use facts::task::comm::Comm;
use facts::task::exit_record::ExitRecord;
use facts::task::figure::{Figure, FigureSet};
use facts::task::store::TaskStore;
use facts::task::unrecorded::Unrecorded;
use facts::task::{Accounting, TaskKey, TaskRow};
use facts::unit::Nanos;
use store::{Store, TaskTick, Tick};

pub(crate) const SECOND: Nanos = Nanos::SECOND;
pub(crate) const STARTED_AT: u64 = 1_700_000_000;

/// Numbers that look random, the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A machine whose tasks come, work and go.
pub(crate) struct Machine {
    random: Random,
    pub(crate) second: u64,
    pub(crate) living: BTreeMap<u32, TaskRow>,
    pub(crate) store: TaskStore,
    pub(crate) unrecorded: Unrecorded,
    ended_on_cpu: u64,
    next_pid: u32,
}

pub(crate) fn clock(second: u64) -> Clock {
    let since_boot = Nanos(second * SECOND.0);
    Clock { realtime: Nanos((STARTED_AT + second) * SECOND.0), boottime: since_boot, monotonic: since_boot }
}

impl Machine {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            second: 1000,
            living: BTreeMap::new(),
            store: TaskStore::default(),
            unrecorded: Unrecorded::default(),
            ended_on_cpu: 0,
            next_pid: 100,
        }
    }

    fn task(&mut self, lived_us: u64) -> TaskRow {
        self.next_pid += 1;
        let start = Nanos(self.second * SECOND.0 - lived_us * 1000);
        let mut row = TaskRow {
            key: TaskKey { pid: self.next_pid, start },
            tgid: Some(self.next_pid),
            ppid: Some(1),
            uid: Some(1000),
            comm: Comm::new(format!("task-{}", self.random.below(9)).as_bytes()),
            state: Some(b'S'),
            accounting: Accounting::On,
            cgroup: Some(self.random.below(3) + 1),
            wall: Nanos(lived_us * 1000),
            ..TaskRow::default()
        };
        FigureSet::COUNTERS.for_each(|figure| row.figures.set(figure, Some(0)));
        self.work(&mut row, lived_us / 4);
        row
    }

    fn work(&mut self, row: &mut TaskRow, at_most_us: u64) {
        for figure in [Figure::ON_CPU, Figure::USER, Figure::delay(facts::task::Cause::RunQueue)] {
            let more = self.random.below(at_most_us.max(1)) * 1000;
            row.figures.set(figure, row.figures.get(figure).map(|value| value + more));
        }
        let switches = row.figures.get(Figure::VOLUNTARY_SWITCHES).unwrap();
        row.figures.set(Figure::VOLUNTARY_SWITCHES, Some(switches + 1));
        row.figures.set(Figure::RESIDENT_BYTES, Some(4096 * self.random.below(1000)));
    }

    /// A second passes.
    pub(crate) fn advance(&mut self) -> Option<Nanos> {
        self.second += 1;
        self.store.begin(clock(self.second));
        let mut exits = Vec::new();
        for pid in self.living.keys().copied().collect::<Vec<_>>() {
            let mut row = self.living[&pid];
            row.wall = clock(self.second).boottime.saturating_sub(row.key.start);
            match self.random.below(20) {
                0 => {
                    self.living.remove(&pid);
                    self.store.remove(pid);
                    self.work(&mut row, 1000);
                    exits.push(row);
                }
                1..8 => {
                    self.work(&mut row, 200_000);
                    self.living.insert(pid, row);
                    self.store.put(&row);
                }
                _ => {}
            }
        }
        for _ in 0..self.random.below(12) {
            let lived_us = self.random.below(900_000) + 1000;
            let row = self.task(lived_us);
            if self.random.below(2) == 0 {
                exits.push(row);
            } else {
                self.living.insert(row.key.pid, row);
                self.store.put(&row);
            }
        }
        let now = clock(self.second).boottime;
        let between = (now.saturating_sub(SECOND), now);
        let exit = ExitInfo { code: 256, flags: 0x20 };
        let mut records: Vec<ExitRecord> =
            exits.iter().map(|row| ExitRecord { row: *row, exit, between, tick: Nanos(4_000_000) }).collect();
        let recorded: u64 = records.iter().filter_map(ExitRecord::cpu_ns).sum();
        self.ended_on_cpu += recorded + self.random.below(5000) * 1000;
        self.store.ended_on_cpu = Some(Nanos(self.ended_on_cpu));
        self.store.finish(&mut records);
        assert!(records.is_empty());
        self.unrecorded.advance(&self.store)
    }
}

pub(crate) fn record(store: &mut Store, machine: &Machine) {
    let tasks = TaskTick { store: &machine.store, lost_exits: 0 };
    let tick = Tick { clock: machine.store.clock(), boot_id: "boot", values: &[], tasks: Some(tasks) };
    store.append(&tick).unwrap();
}

pub(crate) fn realtime_ns(second: u64) -> i64 {
    clock(second).realtime.0.cast_signed()
}
