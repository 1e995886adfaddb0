//! Ten minutes of a series, and what is said of its trend.

use query::Limits;
use store::SeriesKind;

use super::*;
use crate::past::scratch::{Scratch, append};
use crate::why::sentence::{Sentence, Window};

const FIRST_MS: i64 = 1_700_000_000_000;
const SECONDS: i64 = 600;
const GIB: f64 = (1 << 30) as f64;
const MIB: f64 = (1 << 20) as f64;

/// Records ten minutes of a series, as often as the agent reads it, and returns what is said of a trend in them.
fn trends(name: &str, series: &str, every_s: i64, value: impl Fn(i64) -> f64) -> Vec<Sentence> {
    let scratch = Scratch::new(&format!("trend-{name}"));
    let past = scratch.past(|store| {
        let id = store.series(series, SeriesKind::Gauge);
        for second in (0..=SECONDS).step_by(every_s as usize) {
            append(store, FIRST_MS + second * 1000, &[(id, value(second))]);
        }
    });
    let window = Window { from_ms: FIRST_MS, to_ms: FIRST_MS + SECONDS * 1000 };
    let found = crate::why::examine(&past, window, None, &Limits::default()).unwrap();
    found.sentences.into_iter().filter(|sentence| sentence.trouble == Trouble::Trend).collect()
}

const AVAILABLE: &str = "node_memory_MemAvailable_bytes";

#[test]
fn memory_that_falls_steadily_is_a_trend() {
    // By ten mebibytes in each second, and up to six more or less.
    let falling = |second: i64| 20.0 * GIB - second as f64 * 10.0 * MIB + (second % 7) as f64 * MIB;
    let found = trends("falling", AVAILABLE, 1, falling);
    let text = &found[0].text;
    assert!(text.starts_with("Available memory fell steadily for 10m00s by 10 MiB in each second"), "{text}");
    assert!(text.contains("the 14.1 GiB that are left are gone in 24m"), "{text}");
    // It may have begun within the window.
    let late = |second: i64| 20.0 * GIB - (second - 350).max(0) as f64 * 30.0 * MIB;
    let found = trends("late", AVAILABLE, 1, late);
    assert!(found[0].text.starts_with("Available memory fell steadily for 4m00s by 30 MiB"), "{found:?}");
}

#[test]
fn memory_that_comes_back_or_lasts_for_days_is_none() {
    type Value = fn(i64) -> f64;
    let cases: [(&str, Value); 6] = [
        // A cache that is emptied each minute.
        ("sawtooth", |second| 20.0 * GIB - (second % 60) as f64 * 100.0 * MIB),
        // A program that starts, and has what it needs.
        ("step", |second| if second < 400 { 20.0 * GIB } else { 10.0 * GIB }),
        // It has ended.
        ("ended", |second| 20.0 * GIB - second.min(300) as f64 * 20.0 * MIB),
        ("rising", |second| 10.0 * GIB + second as f64 * 10.0 * MIB),
        // At this rate it is gone in eleven hours: ten minutes are too short to say that.
        ("slow", |second| 20.0 * GIB - second as f64 * 0.5 * MIB),
        // Faster and faster, and slower again.
        ("waves", |second| 20.0 * GIB - second as f64 * 5.0 * MIB + (second as f64 / 30.0).sin() * 1.5 * GIB),
    ];
    for (name, value) in cases {
        assert_eq!(trends(name, AVAILABLE, 1, value), [], "{name}");
    }
}

#[test]
fn room_and_inodes_that_fall_steadily_are_trends() {
    let room = trends("room", "node_filesystem_avail_bytes{mountpoint=\"/var\"}", 10, |second| {
        8.0 * GIB - second as f64 * 5.0 * MIB
    });
    assert!(room[0].text.starts_with("Room on /var fell steadily for 10m00s by 5 MiB"), "{room:?}");
    assert_eq!(room[0].culprit, Some(Culprit::Filesystem("/var".to_owned())));
    let inodes = trends("inodes", "node_filesystem_files_free{mountpoint=\"/var\"}", 10, |second| {
        1e6 - second as f64 * 1000.0
    });
    assert!(inodes[0].text.contains("free inodes on /var fell steadily"), "{inodes:?}");
    // A log that is rotated.
    let rotated = trends("rotated", "node_filesystem_avail_bytes{mountpoint=\"/var\"}", 10, |second| {
        8.0 * GIB - (second % 200) as f64 * 5.0 * MIB
    });
    assert_eq!(rotated, []);
}
