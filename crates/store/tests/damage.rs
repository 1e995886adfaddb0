//! Damaged files: nothing wrong is ever read without being reported, and recording goes on.

#![allow(clippy::unwrap_used)]

mod scratch;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use facts::sample::Clock;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;
use scratch::Scratch;
use store::{History, Named, Retention, SeriesKind, Store, TaskTick, Tick};

const SECOND_NS: u64 = 1_000_000_000;

fn clock(tick: u64) -> Clock {
    let since_boot = Nanos(tick * SECOND_NS);
    Clock { realtime: Nanos((1_700_000_000 + tick) * SECOND_NS), boottime: since_boot, monotonic: since_boot }
}

fn record(store: &mut Store, ticks: std::ops::Range<u64>) {
    let ids: Vec<_> = (0..20)
        .map(|number| store.series(&format!("series_total{{device=\"{number}\"}}"), SeriesKind::Counter))
        .collect();
    let mut tasks = TaskStore::default();
    for tick in ticks {
        let values: Vec<_> =
            ids.iter().enumerate().map(|(place, id)| (*id, (tick * (place as u64 + 3)) as f64)).collect();
        tasks.begin(clock(tick));
        for pid in 1..20 {
            let key = TaskKey { pid, start: Nanos(u64::from(pid) * SECOND_NS) };
            tasks.put(&TaskRow { key, nice: (tick % 20) as i8, ..TaskRow::default() });
        }
        tasks.finish(&mut Vec::new());
        for key in tasks.rows().map(|row| row.key).filter(|key| key.pid.is_multiple_of(5)) {
            if !store.knows(Named::Command(key)) {
                store.name("boot", Named::Command(key), &format!("command {}", key.pid));
            }
        }
        let tasks = TaskTick { store: &tasks, lost_exits: 0 };
        // A full disk is not an end.
        let _ =
            store.append(&Tick { clock: clock(tick), boot_id: "boot", values: &values, tasks: Some(tasks) });
    }
}

/// Tasks with their command lines.
type Rows = Vec<(TaskRow, Option<String>)>;

/// Everything that can be read: the values of each series by time, the tasks of each round by time, and how much is damaged.
type Everything = (BTreeMap<String, BTreeMap<u64, u64>>, BTreeMap<u64, Rows>, u64);

fn everything(path: &Path) -> Result<Everything, store::StoreError> {
    let history = History::open(path)?;
    let mut damaged = history.damaged();
    let mut series = BTreeMap::new();
    for (name, _) in history.series() {
        let mut values = BTreeMap::new();
        damaged += history.read(name, 0, i64::MAX, |sample| {
            values.insert(sample.clock.realtime.0, sample.value.to_bits());
        })?;
        series.insert(name.to_owned(), values);
    }
    let mut rounds = BTreeMap::new();
    let mut replay = history.tasks(0, i64::MAX)?;
    while replay.advance()? {
        let mut rows: Rows = replay.store().rows().map(|row| (*row, None)).collect();
        rows.sort_unstable_by_key(|(row, _)| row.key.pid);
        for (row, name) in &mut rows {
            *name = replay.name(Named::Command(row.key))?.map(str::to_owned);
        }
        rounds.insert(replay.round().clock.realtime.0, rows);
    }
    damaged += replay.damaged();
    Ok((series, rounds, damaged))
}

#[test]
fn a_changed_byte_is_reported_or_changes_nothing() {
    let scratch = Scratch::new("flipped");
    let path = scratch.file();
    let mut store = Store::open(&path, Retention::default()).unwrap();
    record(&mut store, 0..650);
    store.close().unwrap();
    // Everything in the file itself, nothing in a log.
    drop(
        rusqlite::Connection::open(&path)
            .unwrap()
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())),
    );
    let whole = fs::read(&path).unwrap();
    let expected = everything(&path).unwrap();
    assert_eq!((expected.2, expected.0.len(), expected.1.len()), (0, 20, 650));
    let (mut reported, mut harmless) = (0, 0);
    // Each byte of SQLite's header and of the pointers of its first page, and of each page some; WHIT_FLIP_STEP=1 changes every byte.
    let step = std::env::var("WHIT_FLIP_STEP").ok().and_then(|step| step.parse().ok()).unwrap_or(997);
    for place in (0..140).chain((140..whole.len()).step_by(step)) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        let directory = scratch.directory().join(format!("flip{place}"));
        fs::create_dir(&directory).unwrap();
        let path = directory.join("history.sqlite");
        fs::write(&path, &bytes).unwrap();
        match everything(&path) {
            Ok(found) if found == expected => harmless += 1,
            Ok(found) => {
                assert!(found.2 > 0, "byte {place}: something else was read");
                let is_part = |found: &BTreeMap<u64, u64>, all: &BTreeMap<u64, u64>| {
                    found.iter().all(|(time, value)| all.get(time) == Some(value))
                };
                for (name, values) in &found.0 {
                    assert!(
                        expected.0.get(name).is_some_and(|all| is_part(values, all)),
                        "byte {place}: {name}"
                    );
                }
                // A name may be missing, and nothing else.
                let is_same = |found: &Rows, all: &Rows| {
                    found.len() == all.len()
                        && found.iter().zip(all).all(|((row, name), (expected, expected_name))| {
                            row == expected && (name.is_none() || name == expected_name)
                        })
                };
                assert!(
                    found
                        .1
                        .iter()
                        .all(|(time, rows)| expected.1.get(time).is_some_and(|all| is_same(rows, all))),
                    "byte {place}"
                );
                reported += 1;
            }
            Err(_) => reported += 1,
        }
        // The next agent starts, records, and what it records can be read.
        let mut store = Store::open(&path, Retention::default())
            .unwrap_or_else(|error| panic!("byte {place}: it does not start: {error}"));
        record(&mut store, 700..703);
        store.close().unwrap_or_else(|error| panic!("byte {place}: {error}"));
        let history = History::open(&path).unwrap_or_else(|error| panic!("byte {place}: {error}"));
        let mut values = Vec::new();
        let from = clock(700).realtime.0.cast_signed();
        history
            .read("series_total{device=\"7\"}", from, i64::MAX, |sample| values.push(sample.value))
            .unwrap_or_else(|error| panic!("byte {place}: {error}"));
        assert_eq!(values, [7000.0, 7010.0, 7020.0], "byte {place}");
        fs::remove_dir_all(&directory).unwrap();
    }
    println!("{reported} reported, {harmless} harmless");
    assert!(reported > 10, "{reported} {harmless}");
}

#[test]
fn what_is_no_database_is_renamed() {
    let scratch = Scratch::new("garbage");
    fs::write(scratch.file(), vec![0x5a; 100_000]).unwrap();
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    let findings = store.take_findings();
    assert!(findings.len() == 1 && findings[0].contains("history.damaged-1.sqlite"), "{findings:?}");
    record(&mut store, 0..10);
    store.close().unwrap();
    let history = History::open(&scratch.file()).unwrap();
    let extent = history.extent().unwrap();
    assert_eq!((extent.ticks, extent.damaged_files), (10, 1));
}

#[test]
fn a_file_that_is_removed_is_begun_again_with_what_is_in_memory() {
    let scratch = Scratch::new("removed");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    record(&mut store, 0..30);
    for end in ["", "-wal", "-shm"] {
        fs::remove_file(scratch.directory().join(format!("history.sqlite{end}"))).unwrap();
    }
    record(&mut store, 30..60);
    let findings = store.take_findings();
    assert!(findings.len() == 1 && findings[0].contains("was removed or replaced"), "{findings:?}");
    store.close().unwrap();
    let history = History::open(&scratch.file()).unwrap();
    assert_eq!(history.extent().unwrap().ticks, 60);
    assert_eq!(history.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn a_changed_time_of_a_block_is_found() {
    let scratch = Scratch::new("times");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    record(&mut store, 0..700);
    store.close().unwrap();
    for (table, column) in [("blocks", "last_ns"), ("blocks", "lasts_s"), ("task_chunks", "first_ns")] {
        let connection = rusqlite::Connection::open(scratch.file()).unwrap();
        let change = |by: &str| {
            let sql = format!("UPDATE {table} SET {column} = {column} {by} 4096 WHERE id = 1");
            assert_eq!(connection.execute(&sql, []).unwrap(), 1);
        };
        change("+");
        assert!(!History::open(&scratch.file()).unwrap().verify().unwrap().is_empty(), "{table} {column}");
        change("-");
        assert!(History::open(&scratch.file()).unwrap().verify().unwrap().is_empty(), "{table} {column}");
    }
}
