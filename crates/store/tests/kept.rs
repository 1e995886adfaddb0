//! A store that an older version wrote opens, and has what it was given.
//!
//! tests/kept has one of each format. `WHIT_WRITE_FIXTURE=1 cargo test -p store --test kept` writes that of this version.

#![allow(clippy::unwrap_used)]

mod machine;
mod scratch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use facts::task::TaskRow;
use machine::{Machine, clock, realtime_ns};
use scratch::Scratch;
use store::{History, Named, Retention, SeriesKind, Store, TaskTick, Tick, Tier};

fn fixture(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kept/format-{format}.sqlite"))
}

fn retention() -> Retention {
    let tier = |step_s, keep_s| Tier { step_s, keep_s };
    Retention { tiers: vec![tier(0, 300), tier(10, 10_000)], ..Retention::default() }
}

/// Half of it thinned, the rest as recorded, the last of it in the journal.
fn write(path: &Path) {
    let mut store = Store::open(path, retention()).unwrap();
    let mut machine = Machine::new(3);
    for second in 1000..2500_u64 {
        let values = [
            (store.series("counter_total", SeriesKind::Counter), (second % 777 * 10) as f64),
            (store.series("gauge{device=\"sda\"}", SeriesKind::Gauge), (second * 7 % 11) as f64 / 8.0),
        ];
        let is_round = second.is_multiple_of(6);
        if is_round {
            machine.second = second - 1;
            machine.advance();
        }
        for row in machine.living.values() {
            if !store.knows(Named::Command(row.key)) {
                store.name("boot", Named::Command(row.key), &format!("command {}", row.key.pid));
            }
        }
        let tasks = is_round.then_some(TaskTick { store: &machine.store, lost_exits: 0 });
        store.append(&Tick { clock: clock(second), boot_id: "boot", values: &values, tasks }).unwrap();
        if second == 2400 {
            store.compact(realtime_ns(second)).unwrap();
        }
    }
    // As a killed writer leaves it, but in one file.
    drop(store);
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    connection.execute_batch("VACUUM").unwrap();
}

/// All samples of all series, and all rows of all rounds.
type Content = (BTreeMap<String, Vec<String>>, BTreeMap<u64, Vec<(TaskRow, Option<String>)>>);

fn content(path: &Path) -> Content {
    let history = History::open(path).unwrap();
    assert_eq!(history.verify().unwrap(), Vec::<String>::new());
    let mut series = BTreeMap::new();
    for (name, kind) in history.series() {
        let mut samples = vec![format!("{kind:?}")];
        let damaged = history.read(name, i64::MIN, i64::MAX, |sample| samples.push(format!("{sample:?}")));
        assert_eq!(damaged.unwrap(), 0);
        series.insert(name.to_owned(), samples);
    }
    let mut rounds = BTreeMap::new();
    let mut replay = history.tasks(i64::MIN, i64::MAX).unwrap();
    while replay.advance().unwrap() {
        let rows: Vec<TaskRow> = replay.store().rows().copied().collect();
        let mut rows: Vec<_> = rows
            .into_iter()
            .map(|row| (row, replay.name(Named::Command(row.key)).unwrap().map(str::to_owned)))
            .collect();
        rows.sort_unstable_by_key(|(row, _)| row.key.pid);
        rounds.insert(replay.round().clock.boottime.0, rows);
    }
    assert_eq!(replay.damaged(), 0);
    (series, rounds)
}

#[test]
fn a_kept_store_has_what_it_was_given() {
    let scratch = Scratch::new("kept");
    let fresh = scratch.directory().join("fresh.sqlite");
    write(&fresh);
    if std::env::var_os("WHIT_WRITE_FIXTURE").is_some() {
        std::fs::copy(&fresh, fixture(1)).unwrap();
    }
    std::fs::copy(fixture(1), scratch.file()).unwrap();
    let expected = content(&fresh);
    assert!(expected.0["counter_total"].len() > 200 && expected.1.len() > 200);
    assert!(content(&scratch.file()) == expected, "the kept store has something else");
    // And it can be gone on with.
    let mut store = Store::open(&scratch.file(), retention()).unwrap();
    assert_eq!(store.take_findings(), Vec::<String>::new());
    let values = [(store.series("counter_total", SeriesKind::Counter), 1.0)];
    store.append(&Tick { clock: clock(5000), boot_id: "boot", values: &values, tasks: None }).unwrap();
    store.close().unwrap();
    let gone_on = content(&scratch.file());
    assert_eq!(gone_on.0["counter_total"].len(), expected.0["counter_total"].len() + 1);
    assert!(gone_on.1 == expected.1);
}
