//! Tasks that are recorded are the same when they are read again.

#![allow(clippy::unwrap_used)]

mod machine;
mod scratch;

use std::collections::BTreeMap;

use facts::sample::Clock;
use facts::task::comm::Comm;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;
use machine::{Machine, realtime_ns, record};
use scratch::Scratch;
use store::{History, Named, Retention, Store, TaskTick, Tick, Tier};

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

/// What is in the journal needs its base and no chunk before that: damaged ones are not even noticed. (Of 20 the base is damaged.)
#[test]
fn the_newest_round_is_read_without_the_oldest_chunks() {
    let scratch = Scratch::new("newest-round");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    let mut machine = Machine::new(5);
    for _ in 0..1270 {
        machine.advance();
        record(&mut store, &machine);
    }
    let connection = rusqlite::Connection::open(scratch.file()).unwrap();
    assert_eq!(connection.execute("UPDATE task_chunks SET living = x'00' WHERE id < 20", []).unwrap(), 19);
    let history = History::open(&scratch.file()).unwrap();
    let newest_ns = realtime_ns(machine.second);
    for (from_ns, damaged) in [(newest_ns, 0), (0, 20)] {
        let mut replay = history.tasks(from_ns, newest_ns).unwrap();
        while replay.advance().unwrap() {}
        assert_eq!((replay.store().len(), replay.damaged()), (machine.living.len(), damaged));
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

/// Chunks that wait are written a few at a time, and all of them when the store is closed.
#[test]
fn what_waited_is_written_at_the_end() {
    let scratch = Scratch::new("waiting");
    for waiting in [330, 545] {
        let _ = std::fs::remove_file(scratch.file());
        let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
        let mut machine = Machine::new(5);
        machine.advance();
        record(&mut store, &machine);
        // Another writer keeps the lock.
        let other = rusqlite::Connection::open(scratch.file()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut failures = 0;
        for _ in 0..waiting {
            machine.advance();
            let tasks = TaskTick { store: &machine.store, lost_exits: 0 };
            let tick =
                Tick { clock: machine.store.clock(), boot_id: "boot", values: &[], tasks: Some(tasks) };
            failures += usize::from(store.append(&tick).is_err());
        }
        assert_eq!(failures, waiting);
        drop(other);
        store.close().unwrap();
        let history = History::open(&scratch.file()).unwrap();
        let mut replay = history.tasks(0, i64::MAX).unwrap();
        let mut rounds = 0;
        while replay.advance().unwrap() {
            rounds += 1;
        }
        assert_eq!((rounds, replay.damaged()), (waiting + 1, 0));
        assert_eq!(history.extent().unwrap().ticks, (waiting + 1) as u64);
    }
}
