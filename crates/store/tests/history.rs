//! A history over ticks, boots and ends of its writer.

#![allow(clippy::unwrap_used)]

mod scratch;

use facts::sample::Clock;
use facts::unit::Nanos;
use scratch::Scratch;
use store::{History, Reading, Retention, Sample, SeriesKind, Store, Tick};

const SECOND_NS: i64 = 1_000_000_000;
const START_NS: i64 = 1_700_000_000 * SECOND_NS;

/// What series have at a tick: a counter, a gauge, one that is there in every third tick, and one that never changes.
fn values(tick: i64) -> [Option<f64>; 4] {
    [
        Some((tick * 4096) as f64),
        Some((tick as f64 * 0.1).sin()),
        (tick % 3 == 0).then_some(tick as f64),
        Some(42.0),
    ]
}

const NAMES: [&str; 4] = ["bytes_total{device=\"a\"}", "load1", "seldom", "constant"];

fn clock(tick: i64) -> Clock {
    let since_boot = Nanos((tick * SECOND_NS).cast_unsigned());
    Clock {
        realtime: since_boot + Nanos(START_NS.cast_unsigned()),
        boottime: since_boot,
        monotonic: since_boot,
    }
}

fn record(store: &mut Store, ticks: std::ops::Range<i64>, boot_id: &str) {
    let kinds = [SeriesKind::Counter, SeriesKind::Gauge, SeriesKind::Gauge, SeriesKind::Gauge];
    for tick in ticks {
        let mut now = Vec::new();
        for ((name, kind), value) in NAMES.iter().zip(kinds).zip(values(tick)) {
            let id = store.series(name, kind);
            now.extend(value.map(|value| (id, value)));
        }
        store.append(&Tick { clock: clock(tick), boot_id, values: &now, tasks: None }).unwrap();
    }
}

fn read(history: &History, name: &str, ticks: std::ops::Range<i64>) -> Vec<Sample> {
    let (from, to) = (START_NS + ticks.start * SECOND_NS, START_NS + (ticks.end - 1) * SECOND_NS);
    let mut samples = Vec::new();
    assert_eq!(history.read(name, from, to, |sample| samples.push(sample)).unwrap(), 0);
    samples
}

/// The samples of one series, read with all others.
fn read_among(history: &History, series: usize, ticks: std::ops::Range<i64>) -> Vec<Sample> {
    let (from, to) = (START_NS + ticks.start * SECOND_NS, START_NS + (ticks.end - 1) * SECOND_NS);
    let mut samples = Vec::new();
    let damaged = history.read_all(&NAMES, from, to, |place, reading| match reading {
        Reading::Sample(sample) if place == series => samples.push(sample),
        _ => {}
    });
    assert_eq!(damaged.unwrap(), 0);
    samples
}

fn expected(series: usize, ticks: std::ops::Range<i64>) -> Vec<Sample> {
    let sample =
        |tick: i64| values(tick)[series].map(|value| Sample { clock: clock(tick), value, range: None });
    ticks.filter_map(sample).collect()
}

#[test]
fn blocks_and_the_journal_are_read() {
    let scratch = Scratch::new("recorded");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    record(&mut store, 0..1500, "boot");
    let history = History::open(&scratch.file()).unwrap();
    for (series, name) in NAMES.iter().enumerate() {
        for ticks in [0..1500, 3..4, 590..610, 1190..1500, 1263..1264, 1264..1266, 1331..1500, 1499..1500] {
            assert_eq!(
                read(&history, name, ticks.clone()),
                expected(series, ticks.clone()),
                "{name} {ticks:?}"
            );
            assert_eq!(
                read_among(&history, series, ticks.clone()),
                expected(series, ticks.clone()),
                "{name} {ticks:?} among others"
            );
        }
    }
}

#[test]
fn a_writer_that_ends_at_any_tick_loses_none() {
    let scratch = Scratch::new("ended");
    let mut done = 0;
    for more in [1, 7, 599, 600, 601, 3, 1200, 17] {
        // It is not closed in an orderly way: nothing is left to be done then.
        let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
        record(&mut store, done..done + more, "boot");
        done += more;
        std::mem::forget(store);
        let history = History::open(&scratch.file()).unwrap();
        for (series, name) in NAMES.iter().enumerate() {
            assert_eq!(read(&history, name, 0..done), expected(series, 0..done), "{name} after {done}");
        }
    }
}

#[test]
fn a_reader_sees_the_history_as_it_was_when_it_was_opened() {
    let scratch = Scratch::new("beside");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    record(&mut store, 0..605, "boot");
    let history = History::open(&scratch.file()).unwrap();
    record(&mut store, 605..1300, "boot");
    let extent = history.extent().unwrap();
    let last_ns = START_NS + 604 * SECOND_NS;
    assert_eq!((extent.ticks, extent.series, extent.realtime_ns), (605, 4, Some((START_NS, last_ns))));
    let names: Vec<&str> = history.series().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["bytes_total{device=\"a\"}", "constant", "load1", "seldom"]);
    for (name, kind) in history.series() {
        let series = NAMES.iter().position(|known| *known == name).unwrap();
        assert_eq!(kind == SeriesKind::Counter, series == 0);
        assert_eq!(read(&history, name, 0..2000), expected(series, 0..605), "{name}");
    }
    assert_eq!(History::open(&scratch.file()).unwrap().extent().unwrap().ticks, 1300);
}

#[test]
fn another_boot_begins_another_block() {
    let scratch = Scratch::new("boots");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    record(&mut store, 0..10, "first");
    record(&mut store, 10..700, "second");
    let history = History::open(&scratch.file()).unwrap();
    assert_eq!(read(&history, "load1", 0..700), expected(1, 0..700));
    assert_eq!(history.extent().unwrap().boots, 2);
}

#[test]
fn a_newer_format_is_left_alone() {
    let scratch = Scratch::new("newer");
    drop(Store::open(&scratch.file(), Retention::default()).unwrap());
    let connection = rusqlite::Connection::open(scratch.file()).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    connection.pragma_update(None, "application_id", 0x7768_0000 + 99).unwrap();
    drop(connection);
    let error = Store::open(&scratch.file(), Retention::default()).unwrap_err();
    assert!(error.to_string().contains("format 99"), "{error}");
}
