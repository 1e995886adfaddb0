//! The newest reading of each series is the last one of all its readings, wherever a time begins and ends.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use std::path::PathBuf;

use facts::sample::Clock;
use facts::unit::Nanos;
use store::{History, Reading, Retention, SeriesId, SeriesKind, Store, Tick};

const TICKS: u64 = 1300;
const SECOND: u64 = 1_000_000_000;

/// Whether a series is there at a tick: always, now and then, in the beginning, at the end, in pieces longer than a block.
fn is_there(series: u64, tick: u64) -> bool {
    match series {
        0 => true,
        1 => tick % 7 < 4,
        2 => tick < 300,
        3 => tick > 1250,
        _ => tick % 900 < 700,
    }
}

#[test]
fn the_newest_is_the_last_of_all() {
    let directory: PathBuf = std::env::temp_dir().join(format!("whit-newest-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("history.sqlite");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    let ids: Vec<SeriesId> = (0..5).map(|n| store.series(&format!("s{n}"), SeriesKind::Gauge)).collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let first = now.as_secs() * SECOND - TICKS * SECOND;
    for tick in 0..TICKS {
        let at = Nanos(first + tick * SECOND);
        let there = (0..5).filter(|series| is_there(*series, tick));
        let values: Vec<(SeriesId, f64)> =
            there.map(|series| (ids[series as usize], (tick * 10 + series) as f64)).collect();
        let clock = Clock { realtime: at, boottime: at, monotonic: at };
        store.append(&Tick { clock, boot_id: "boot", values: &values, tasks: None }).unwrap();
    }
    let history = History::open(&path).unwrap();
    let names = ["s0", "s1", "s2", "s3", "s4", "missing"];
    // Blocks have 600 ticks; the last 100 are in the journal alone.
    let mut compared = 0;
    for from in (0..TICKS).step_by(61) {
        for to in (from..TICKS + 20).step_by(47) {
            let [from_ns, to_ns] = [from, to].map(|tick| (first + tick * SECOND).cast_signed());
            let mut last: [Option<Reading>; 6] = [None; 6];
            history.read_all(&names, from_ns, to_ns, |place, reading| last[place] = Some(reading)).unwrap();
            let mut newest: [Option<Reading>; 6] = [None; 6];
            history
                .read_newest(&names, from_ns, to_ns, |place, reading| newest[place] = Some(reading))
                .unwrap();
            for (place, (last, newest)) in last.iter().zip(&newest).enumerate() {
                assert_eq!(last, newest, "s{place} from {from} to {to}");
                compared += usize::from(last.is_some());
            }
        }
    }
    assert!(compared > 1000, "{compared}");
    drop(store);
    std::fs::remove_dir_all(directory).unwrap();
}
