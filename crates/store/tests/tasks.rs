//! Tasks that are recorded are the same when they are read again.

#![allow(clippy::unwrap_used)]

mod scratch;

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
use scratch::Scratch;
use store::{History, Named, Retention, Store, TaskTick, Tick, Tier};

const SECOND: Nanos = Nanos::SECOND;
const STARTED_AT: u64 = 1_700_000_000;

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A machine whose tasks come, work and go.
struct Machine {
    random: Random,
    second: u64,
    living: BTreeMap<u32, TaskRow>,
    store: TaskStore,
    unrecorded: Unrecorded,
    ended_on_cpu: u64,
    next_pid: u32,
}

fn clock(second: u64) -> Clock {
    let since_boot = Nanos(second * SECOND.0);
    Clock { realtime: Nanos((STARTED_AT + second) * SECOND.0), boottime: since_boot, monotonic: since_boot }
}

impl Machine {
    fn new(seed: u64) -> Self {
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
    fn advance(&mut self) -> Option<Nanos> {
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

/// A task that ended: its id and name, what it did in the interval, and its exit status.
type Ended = (u32, Comm, Vec<Option<u64>>, Option<u32>);

/// Everything that a view could show of a round.
#[derive(Debug, PartialEq)]
struct Shown {
    clock: Clock,
    living: Vec<(TaskRow, Vec<Option<u64>>)>,
    ended: Vec<Ended>,
    unrecorded: Option<Nanos>,
}

fn shown(store: &TaskStore, unrecorded: Option<Nanos>) -> Shown {
    let mut living: Vec<_> = store
        .rows()
        .map(|row| {
            let deltas = Figure::all().map(|figure| store.delta(row.key.pid, figure)).collect();
            (TaskRow { wall: Nanos(0), ..*row }, deltas)
        })
        .collect();
    living.sort_unstable_by_key(|(row, _)| row.key.pid);
    let mut ended: Vec<_> = store
        .ended()
        .map(|one| {
            let deltas = Figure::all().map(|figure| one.delta.get(figure)).collect();
            (one.row().key.pid, one.row().comm, deltas, one.record().exit.status())
        })
        .collect();
    ended.sort_unstable_by_key(|(pid, ..)| *pid);
    Shown { clock: store.clock(), living, ended, unrecorded }
}

fn record(store: &mut Store, machine: &Machine) {
    let tasks = TaskTick { store: &machine.store, lost_exits: 0 };
    let tick = Tick { clock: machine.store.clock(), boot_id: "boot", values: &[], tasks: Some(tasks) };
    store.append(&tick).unwrap();
}

fn realtime_ns(second: u64) -> i64 {
    clock(second).realtime.0.cast_signed()
}

#[test]
fn every_round_is_what_it_was() {
    let scratch = Scratch::new("rounds");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    let mut machine = Machine::new(7);
    let mut rounds = Vec::new();
    for _ in 0..1500 {
        let unrecorded = machine.advance();
        record(&mut store, &machine);
        rounds.push(shown(&machine.store, unrecorded));
    }
    let history = History::open(&scratch.file()).unwrap();
    let first = 1001;
    // From the first round on, within a chunk, at a base, across one, and one alone.
    for (from, to) in [(0, 1499), (30, 100), (599, 602), (600, 600), (601, 1300), (1499, 1499)] {
        let mut replay = history.tasks(realtime_ns(first + from), realtime_ns(first + to)).unwrap();
        for expected in &rounds[from as usize..=to as usize] {
            assert!(replay.advance().unwrap());
            let mut found = shown(replay.store(), replay.round().unrecorded_cpu);
            // What was used before the replay began is not known to it.
            if from > 0 {
                found.unrecorded = expected.unrecorded;
            }
            assert_eq!(&found, expected, "{from} {to}");
        }
        assert!(!replay.advance().unwrap());
        assert_eq!(replay.damaged(), 0);
    }
}

#[test]
fn a_recorder_that_starts_again_knows_nothing_of_the_time_between() {
    let scratch = Scratch::new("again");
    let mut machine = Machine::new(11);
    for rounds in [3, 70, 61] {
        // Its end is not orderly.
        let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
        for _ in 0..rounds {
            machine.advance();
            record(&mut store, &machine);
        }
        std::mem::forget(store);
        (0..5).for_each(|_| {
            machine.advance();
        });
    }
    let history = History::open(&scratch.file()).unwrap();
    let mut replay = history.tasks(0, i64::MAX).unwrap();
    let mut intervals = Vec::new();
    while replay.advance().unwrap() {
        intervals.push(replay.store().interval().is_some());
    }
    assert_eq!(intervals.len(), 3 + 70 + 61);
    let without: Vec<usize> = (0..intervals.len()).filter(|place| !intervals[*place]).collect();
    assert_eq!(without, [0, 3, 73]);
}

/// CPU time of all tasks in all rounds, and the part of it that had ended.
fn cpu_ns(history: &History) -> (u64, u64, u64) {
    let mut replay = history.tasks(0, i64::MAX).unwrap();
    let (mut all, mut ended, mut rounds) = (0, 0, 0);
    while replay.advance().unwrap() {
        let store = replay.store();
        let exits: u64 = store.ended().filter_map(|one| one.cpu_ns()).sum();
        let living = store.rows().filter_map(|row| store.delta(row.key.pid, Figure::ON_CPU));
        (all, ended, rounds) = (all + exits + living.sum::<u64>(), ended + exits, rounds + 1);
    }
    assert_eq!(replay.damaged(), 0);
    (all, ended, rounds)
}

#[test]
fn thinned_rounds_add_up_to_the_same() {
    let scratch = Scratch::new("thinned");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    let mut machine = Machine::new(5);
    for _ in 0..1500 {
        machine.advance();
        record(&mut store, &machine);
    }
    let (all, ended, rounds) = cpu_ns(&History::open(&scratch.file()).unwrap());
    assert!(ended > 0 && rounds == 1500);
    let tier = |step_s, keep_s| Tier { step_s, keep_s };
    store.set_retention(Retention { tiers: vec![tier(0, 300), tier(10, 10_000)], ..Retention::default() });
    assert!(store.compact(realtime_ns(2500)).unwrap());
    let history = History::open(&scratch.file()).unwrap();
    let (thinned, thinned_ended, fewer) = cpu_ns(&history);
    assert!((400..600).contains(&fewer), "{fewer}");
    // What was used before the first round of all is in no interval, and that round has become one with those after it.
    let first = all.abs_diff(thinned) as f64 / all as f64;
    assert!(first < 0.02, "{all} {thinned}");
    // The living part of what a task did in the window of its end has become part of its end.
    assert!(thinned_ended > ended, "{ended} {thinned_ended}");
    let mut replay = history.tasks(realtime_ns(2490), realtime_ns(2500)).unwrap();
    while replay.advance().unwrap() {}
    assert_eq!(replay.store().len(), machine.store.len());
    assert_eq!(history.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn names_are_kept_as_long_as_their_tasks() {
    let scratch = Scratch::new("names");
    let tier = |step_s, keep_s| Tier { step_s, keep_s };
    let retention = Retention { tiers: vec![tier(0, 900)], ..Retention::default() };
    let mut store = Store::open(&scratch.file(), retention).unwrap();
    let mut machine = Machine::new(11);
    let mut named = BTreeMap::new();
    for _ in 0..3000 {
        machine.advance();
        for row in machine.living.values() {
            if !store.knows(Named::Command(row.key)) {
                store.name("boot", Named::Command(row.key), &format!("command {}", row.key.pid));
                *named.entry(row.key.pid).or_insert(0) += 1;
            }
        }
        record(&mut store, &machine);
    }
    assert!(store.compact(realtime_ns(machine.second)).is_ok());
    assert!(named.values().all(|times| *times == 1), "a name is known as long as its task lives");
    store.close().unwrap();
    let history = History::open(&scratch.file()).unwrap();
    let mut replay = history.tasks(0, i64::MAX).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    while replay.advance().unwrap() {
        let keys: Vec<TaskKey> = replay.store().rows().map(|row| row.key).collect();
        for key in keys {
            let expected = format!("command {}", key.pid);
            assert_eq!(replay.name(Named::Command(key)).unwrap(), Some(expected.as_str()));
            seen.insert(key.pid);
        }
    }
    assert_eq!(history.verify().unwrap(), Vec::<String>::new());
    drop(history);
    let kept: i64 = rusqlite::Connection::open(scratch.file())
        .unwrap()
        .query_row("SELECT count(*) FROM task_names", [], |row| row.get(0))
        .unwrap();
    let kept = usize::try_from(kept).unwrap();
    assert!(
        kept >= seen.len() && kept < named.len() * 2 / 3,
        "{kept} of {} names, {} needed",
        named.len(),
        seen.len()
    );
}
