//! Samples from elsewhere.

#![allow(clippy::unwrap_used)]

mod scratch;

use store::{History, ImportedSeries, Retention, SeriesKind, Store};

use scratch::Scratch;

const SECOND_NS: i64 = 1_000_000_000;

fn read(history: &History, name: &str) -> Vec<(i64, f64)> {
    let mut samples = Vec::new();
    let damaged = history.read(name, i64::MIN, i64::MAX, |sample| {
        samples.push((sample.clock.realtime.0.cast_signed(), sample.value));
    });
    assert_eq!(damaged.unwrap(), 0);
    samples
}

#[test]
fn what_is_imported_is_read_in_the_order_of_time() {
    let scratch = Scratch::new("import");
    let samples = |from: i64, to: i64| -> Vec<(i64, f64)> {
        (from..to).map(|second| (second * SECOND_NS, second as f64)).collect()
    };
    let import = |name: &str, samples: &[(i64, f64)]| {
        let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
        let ticks = store.import(&[ImportedSeries { name, kind: SeriesKind::Gauge, samples }]).unwrap();
        store.close().unwrap();
        ticks
    };
    assert_eq!(import("a", &samples(5000, 6500)), 1500);
    // Behind, before, and into a gap of another series.
    assert_eq!(import("a", &samples(7000, 7100)), 100);
    let mut older = samples(1000, 2300);
    older.reverse();
    older.push((1000 * SECOND_NS, 1000.0));
    assert_eq!(import("a", &older), 1300);
    assert_eq!(import("b", &samples(1, 2)), 1);
    assert_eq!(import("b", &[]), 0);
    let history = History::open(&scratch.file()).unwrap();
    let expected: Vec<_> = [samples(1000, 2300), samples(5000, 6500), samples(7000, 7100)].concat();
    assert_eq!(read(&history, "a"), expected);
    assert_eq!(read(&history, "b"), samples(1, 2));
    assert_eq!(history.verify().unwrap(), Vec::<String>::new());
    let extent = history.extent().unwrap();
    assert_eq!((extent.ticks, extent.boots), (2901, 1));
}

#[test]
fn what_is_deleted_between_others_is_no_damage() {
    let scratch = Scratch::new("import-drop");
    let samples = |from: i64, to: i64| -> Vec<(i64, f64)> {
        (from..to).map(|second| (second * SECOND_NS, second as f64)).collect()
    };
    let import = |samples: &[(i64, f64)]| {
        let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
        store.import(&[ImportedSeries { name: "a", kind: SeriesKind::Gauge, samples }]).unwrap();
        store.close().unwrap();
    };
    // The second one is older than the end of the first, so that it stands behind it; the third behind both.
    import(&samples(5000, 6500));
    import(&samples(100, 5100));
    import(&samples(7000, 7100));
    let history = History::open(&scratch.file()).unwrap();
    let mut newer = Vec::new();
    let damaged = history.read("a", 6000 * SECOND_NS, i64::MAX, |sample| newer.push(sample.value)).unwrap();
    assert_eq!((damaged, newer.len()), (0, 600));
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    store.drop_before(5000 * SECOND_NS).unwrap();
    store.close().unwrap();
    let history = History::open(&scratch.file()).unwrap();
    assert_eq!(history.verify().unwrap(), Vec::<String>::new());
    // Of the second one the block with its end is left.
    assert_eq!(read(&history, "a").len(), 1500 + 200 + 100);
}

#[test]
fn series_have_their_own_times() {
    let scratch = Scratch::new("import-times");
    let mut store = Store::open(&scratch.file(), Retention::default()).unwrap();
    let series: Vec<(String, Vec<(i64, f64)>)> = (1..8_i64)
        .map(|step| {
            let samples = (0..2000).map(|tick| (tick * step * SECOND_NS + step, (tick * step) as f64));
            (format!("every_{step}"), samples.collect())
        })
        .collect();
    let imported: Vec<_> = series
        .iter()
        .map(|(name, samples)| ImportedSeries { name, kind: SeriesKind::Counter, samples })
        .collect();
    store.import(&imported).unwrap();
    store.close().unwrap();
    let history = History::open(&scratch.file()).unwrap();
    for (name, samples) in &series {
        assert_eq!(&read(&history, name), samples, "{name}");
    }
}
