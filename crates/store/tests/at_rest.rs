//! A history that rests and goes on says what one says that is opened anew.

#![allow(clippy::unwrap_used)]

mod machine;
mod scratch;

use std::path::Path;

use machine::{Random, SECOND, STARTED_AT};
use scratch::Scratch;
use store::{History, HistoryAtRest, ImportedSeries, Reading, Retention, SeriesKind, Store, Tick, Tier};

/// Everything that is read of some series, as text, so that not a number equals another.
fn everything(history: &History, from_ns: i64) -> Vec<String> {
    let series = history.series();
    let names: Vec<&str> = series.iter().map(|(name, _)| *name).collect();
    let mut read: Vec<String> = series.iter().map(|series| format!("{series:?}")).collect();
    let push =
        |read: &mut Vec<String>, place: usize, reading: Reading| read.push(format!("{place} {reading:?}"));
    let damaged =
        history.read_all(&names, from_ns, i64::MAX, |place, reading| push(&mut read, place, reading));
    read.push(format!("{damaged:?} {:?} {:?}", history.spans(), history.extent()));
    history.read_newest(&names, from_ns, i64::MAX, |place, reading| push(&mut read, place, reading)).unwrap();
    history.read_last(&names, |place, value| read.push(format!("{place} {value}"))).unwrap();
    for name in names.iter().take(3) {
        history.read(name, from_ns, i64::MAX, |sample| read.push(format!("{name} {sample:?}"))).unwrap();
    }
    let mut tasks = history.tasks(from_ns, i64::MAX).unwrap();
    while tasks.advance().unwrap() {
        read.push(format!("{:?} {}", tasks.round(), tasks.store().len()));
    }
    read.push(format!("{} {:?}", history.damaged(), history.verify()));
    read
}

/// Lets a reader go on, and holds it against another one.
fn compare(reader: &mut Option<HistoryAtRest>, path: &Path, random: &mut Random) {
    let history = match reader.take() {
        Some(kept) => kept.go_on().unwrap(),
        None => History::open(path).unwrap(),
    };
    let from = [0, STARTED_AT + 1000 + random.below(3000)][random.below(2) as usize];
    let from_ns = i64::try_from(from * SECOND.0).unwrap();
    assert_eq!(everything(&history, from_ns), everything(&History::open(path).unwrap(), from_ns));
    *reader = Some(history.rest().unwrap());
}

fn append(store: &mut Store, second: u64, random: &mut Random, series: u64) {
    let mut values = Vec::new();
    for number in 0..series {
        let id = store.series(&format!("series_{number}"), SeriesKind::Counter);
        match random.below(5) {
            0 => {}
            1 => values.push((id, second as f64 / 3.0)),
            _ => values.push((id, (second / 10) as f64)),
        }
    }
    // Ticks that cannot be written now are written later.
    let _ =
        store.append(&Tick { clock: machine::clock(second), boot_id: "boot", values: &values, tasks: None });
}

#[test]
fn it_says_what_one_says_that_is_opened_anew() {
    for seed in 0..2 {
        let scratch = Scratch::new(&format!("at-rest-{seed}"));
        let (path, mut random) = (scratch.file(), Random(seed));
        // Ticks soon become windows, and windows are merged and deleted.
        let tier = |step_s, keep_s| Tier { step_s, keep_s };
        let retention =
            Retention { tiers: vec![tier(0, 900), tier(10, 2000), tier(60, 4000)], most_bytes: 1 << 30 };
        let mut store = Store::open(&path, retention.clone()).unwrap();
        let (mut second, mut reader) = (1000, None);
        append(&mut store, second, &mut random, 1);
        for step in 0..40 {
            let series = 2 + step / 10;
            match random.below(20) {
                0 => {
                    store.close().unwrap();
                    store = Store::open(&path, retention.clone()).unwrap();
                }
                1 => {
                    // A writer that is killed.
                    std::mem::forget(std::mem::replace(
                        &mut store,
                        Store::open(&path, retention.clone()).unwrap(),
                    ));
                }
                2 => second += 700,
                _ => {}
            }
            for _ in 0..random.below(150) {
                second += 1;
                append(&mut store, second, &mut random, series);
            }
            compare(&mut reader, &path, &mut random);
        }
        // Something older comes before it.
        let old = [(i64::try_from((STARTED_AT - 5000) * SECOND.0).unwrap(), 7.0)];
        let imported = ImportedSeries { name: "imported", kind: SeriesKind::Gauge, samples: &old };
        store.import(&[imported]).unwrap();
        compare(&mut reader, &path, &mut random);
    }
}

/// Goes on beside a machine whose tasks come and go.
#[test]
fn tasks_go_on_too() {
    let scratch = Scratch::new("at-rest-tasks");
    let path = scratch.file();
    let (mut random, mut reader) = (Random(5), None);
    let mut store = Store::open(&path, Retention::default()).unwrap();
    let mut machine = machine::Machine::new(5);
    for _ in 0..12 {
        for _ in 0..random.below(40) {
            machine.advance();
            machine::record(&mut store, &machine);
        }
        compare(&mut reader, &path, &mut random);
    }
}

/// An entry that is damaged is counted once, however often the reader goes on, and so is what follows it.
#[test]
fn damage_is_counted_alike() {
    let scratch = Scratch::new("at-rest-damage");
    let (path, mut random) = (scratch.file(), Random(6));
    let mut store = Store::open(&path, Retention::default()).unwrap();
    let mut reader = None;
    for second in 1000..1100 {
        append(&mut store, second, &mut random, 3);
    }
    compare(&mut reader, &path, &mut random);
    for second in 1100..1110 {
        append(&mut store, second, &mut random, 3);
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let damaged = connection.execute("UPDATE journal SET entry = x'00' WHERE place = 105", []).unwrap();
    assert_eq!(damaged, 1);
    for second in 1110..1120 {
        append(&mut store, second, &mut random, 3);
        compare(&mut reader, &path, &mut random);
    }
    assert_eq!(History::open(&path).unwrap().damaged(), 15);
}

/// While it rests, the log can be emptied.
#[test]
fn it_does_not_keep_the_log() {
    let scratch = Scratch::new("at-rest-log");
    let (path, mut random) = (scratch.file(), Random(8));
    let mut store = Store::open(&path, Retention::default()).unwrap();
    (1000..1010).for_each(|second| append(&mut store, second, &mut random, 3));
    let connection = rusqlite::Connection::open(&path).unwrap();
    let is_kept = || {
        let truncated = "PRAGMA wal_checkpoint(TRUNCATE)";
        connection.query_row(truncated, [], |row| row.get::<_, bool>(0)).unwrap()
    };
    let history = History::open(&path).unwrap();
    (1010..1020).for_each(|second| append(&mut store, second, &mut random, 3));
    assert!(is_kept());
    let at_rest = history.rest().unwrap();
    assert!(!is_kept());
    (1020..1030).for_each(|second| append(&mut store, second, &mut random, 3));
    let history = at_rest.go_on().unwrap();
    (1030..1040).for_each(|second| append(&mut store, second, &mut random, 3));
    assert!(is_kept());
    compare(&mut Some(history.rest().unwrap()), &path, &mut random);
}

/// A damaged file that was renamed, and is another one later.
#[test]
fn damaged_files_beside_it_are_those_of_now() {
    let scratch = Scratch::new("at-rest-aside");
    let (path, mut random) = (scratch.file(), Random(9));
    let mut reader = None;
    for (name, series) in
        [("history.sqlite", 2), ("history.damaged-1.sqlite", 3), ("history.damaged-1.sqlite", 4)]
    {
        let other = scratch.directory().join("other.sqlite");
        let mut store = Store::open(&other, Retention::default()).unwrap();
        (1000..1020).for_each(|second| append(&mut store, second, &mut random, series));
        store.close().unwrap();
        std::fs::rename(&other, scratch.directory().join(name)).unwrap();
        compare(&mut reader, &path, &mut random);
    }
    std::fs::write(scratch.directory().join("history.damaged-2.sqlite"), "no database").unwrap();
    compare(&mut reader, &path, &mut random);
    compare(&mut reader, &path, &mut random);
}

/// A file that was removed, and another one that was begun in its place.
#[test]
fn another_file_is_opened_anew() {
    let scratch = Scratch::new("at-rest-removed");
    let (path, mut random) = (scratch.file(), Random(7));
    let mut reader = None;
    for series in [2, 3, 2] {
        let mut store = Store::open(&path, Retention::default()).unwrap();
        for second in 1000..1020 {
            append(&mut store, second, &mut random, series);
        }
        compare(&mut reader, &path, &mut random);
        store.close().unwrap();
        for entry in std::fs::read_dir(scratch.directory()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}
