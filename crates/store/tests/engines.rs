//! The store beside plain tables: both give back the same.

#![allow(clippy::unwrap_used)]

mod scratch;

use facts::sample::Clock;
use facts::unit::Nanos;
use proptest::prelude::*;
use store::{Engine, PlainTables, Records, SeriesKind, StoreEngine, StoreError, Tick};

use scratch::Scratch;

/// What a series' value is at a tick; `None`: it has none.
fn value(series: usize, tick: u64, seed: u64) -> Option<f64> {
    let noise = (tick + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    match series % 4 {
        0 => Some(7.0),
        1 => Some((tick * 100 + noise % 50) as f64),
        2 => (!noise.is_multiple_of(9)).then(|| noise as f64 / 64.0),
        _ => (tick > 700).then(|| -(noise as f64)),
    }
}

fn fill(engine: &mut dyn Engine, ticks: u64, seed: u64) {
    let ids: Vec<_> = (0..8)
        .map(|series| {
            let kind = if series % 4 == 1 { SeriesKind::Counter } else { SeriesKind::Gauge };
            engine.series(&format!("series_{series}"), kind)
        })
        .collect();
    for tick in 0..ticks {
        let at = Nanos((1_000_000 + tick) * Nanos::SECOND.0);
        let values: Vec<_> = ids
            .iter()
            .enumerate()
            .filter_map(|(series, id)| Some((*id, value(series, tick, seed)?)))
            .collect();
        let clock = Clock { realtime: at, boottime: at, monotonic: at };
        engine.append(&Tick { clock, boot_id: "boot", values: &values, tasks: None }).unwrap();
    }
}

fn read(engine: &dyn Engine, series: usize, from: i64, to: i64) -> Vec<(i64, f64)> {
    let mut samples = Vec::new();
    let second = 1_000_000_000;
    engine
        .read(&format!("series_{series}"), from * second, to * second, &mut |at, value| {
            samples.push((at, value))
        })
        .unwrap();
    samples
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn both_give_back_the_same(ticks in 1_u64..1500, seed: u64, from in -5_i64..1500, length in 0_i64..900) {
        let scratch = Scratch::new("engines");
        let mut plain = PlainTables::open(&scratch.file().with_extension("plain")).unwrap();
        let mut store = StoreEngine::open(&scratch.file()).unwrap();
        let engines: [&mut dyn Engine; 2] = [&mut store, &mut plain];
        for engine in engines {
            fill(engine, ticks, seed);
        }
        let (from, to) = (1_000_000 + from, 1_000_000 + from + length);
        for is_finished in [false, true] {
            for series in 0..9 {
                prop_assert_eq!(read(&store, series, from, to), read(&plain, series, from, to));
            }
            if !is_finished {
                let (own, rows) = (store.finish().unwrap(), plain.finish().unwrap());
                prop_assert!(ticks < 600 || own < rows, "{own} bytes, {rows} as rows");
            }
        }
    }
}

#[test]
fn records_are_what_was_put() {
    let scratch = Scratch::new("records");
    let path = scratch.file();
    let mut records = Records::open(&path).unwrap();
    let data: Vec<Vec<u8>> = (0..100_u8).map(|key| vec![key; 100]).collect();
    records.put(data.iter().enumerate().map(|(key, data)| (key as i64, data.as_slice()))).unwrap();
    records.put(std::iter::once((7, &b"other"[..]))).unwrap();
    records.delete([8, 9, 1000].into_iter()).unwrap();
    drop(records);
    let records = Records::open(&path).unwrap();
    assert_eq!(records.get(6).unwrap().as_deref(), Some(&[6; 100][..]));
    assert_eq!(records.get(7).unwrap().as_deref(), Some(&b"other"[..]));
    assert_eq!((records.get(8).unwrap(), records.get(100).unwrap()), (None, None));
    drop(records);
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("UPDATE records SET data = (SELECT data FROM records WHERE key = 6) WHERE key = 7", [])
        .unwrap();
    assert!(matches!(Records::open(&path).unwrap().get(7), Err(StoreError::Damaged(_))));
}

/// A question, and a command that opens a file without writing, wait for no writer, and none waits for them.
#[test]
fn opened_records_take_no_lock() {
    let scratch = Scratch::new("records-lock");
    let path = scratch.file();
    let mut records = Records::open(&path).unwrap();
    records.put(std::iter::once((7, &b"one"[..]))).unwrap();
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    for opened in [Records::open(&path), Records::open_for_reading(&path)] {
        assert_eq!(opened.unwrap().get(7).unwrap().as_deref(), Some(&b"one"[..]));
    }
    assert!(Records::open_for_reading(&path).unwrap().put(std::iter::once((7, &b"two"[..]))).is_err());
    assert!(Records::open_for_reading(&path.with_extension("none")).is_err());
}
