//! What is old becomes windows, and then goes; what can be computed of it stays right.

#![allow(clippy::unwrap_used)]

mod machine;
mod scratch;

use facts::sample::Clock;
use facts::unit::Nanos;
use machine::Machine;
use scratch::Scratch;
use store::{History, Retention, Sample, SeriesKind, Store, TaskTick, Tick, Tier};

const SECOND_NS: i64 = 1_000_000_000;
const START_NS: i64 = 1_700_000_000 * SECOND_NS;

fn clock(tick: i64, shift_s: i64) -> Clock {
    let since_boot = Nanos((tick * SECOND_NS).cast_unsigned());
    let realtime = Nanos((START_NS + (tick + shift_s) * SECOND_NS).cast_unsigned());
    Clock { realtime, boottime: since_boot, monotonic: since_boot }
}

/// A counter that is reset now and then, and a gauge.
fn values(tick: i64) -> (f64, f64) {
    ((tick % 4321 * 10) as f64, (tick % 100) as f64)
}

fn record(store: &mut Store, ticks: std::ops::Range<i64>, shift_s: impl Fn(i64) -> i64) {
    let counter = store.series("counter_total", SeriesKind::Counter);
    let gauge = store.series("gauge", SeriesKind::Gauge);
    for tick in ticks {
        let (count, value) = values(tick);
        let values = [(counter, count), (gauge, value)];
        store
            .append(&Tick {
                clock: clock(tick, shift_s(tick)),
                boot_id: "boot",
                values: &values,
                tasks: None,
            })
            .unwrap();
    }
}

fn tiers() -> Retention {
    let tier = |step_s, keep_s| Tier { step_s, keep_s };
    Retention { tiers: vec![tier(0, 1_500), tier(10, 8_000), tier(60, 60_000)], ..Retention::default() }
}

fn read(history: &History, name: &str) -> Vec<Sample> {
    let mut samples = Vec::new();
    assert_eq!(history.read(name, 0, i64::MAX, |sample| samples.push(sample)).unwrap(), 0);
    samples
}

#[test]
fn old_ticks_become_windows_and_increases_stay_exact() {
    let scratch = Scratch::new("tiers");
    let mut store = Store::open(&scratch.file(), tiers()).unwrap();
    record(&mut store, 0..45_000, |_| 0);
    store.close().unwrap();
    let history = History::open(&scratch.file()).unwrap();
    let samples = read(&history, "counter_total");
    // The last tick of the first window.
    let first = samples[0].clock.boottime.0.cast_signed() / SECOND_NS;
    assert_eq!(first, 59);
    let increase: f64 = samples
        .windows(2)
        .map(|pair| {
            let (before, now) = (pair[0].value, pair[1].value);
            if now < before { now } else { now - before }
        })
        .sum();
    let expected: f64 = (first + 1..45_000)
        .map(|tick| {
            let (before, now) = (values(tick - 1).0, values(tick).0);
            if now < before { now } else { now - before }
        })
        .sum();
    assert_eq!(increase, expected);
    let gauge = read(&history, "gauge");
    let (mut sum, mut count) = (0.0, 0.0);
    for sample in &gauge {
        sum += sample.range.map_or(sample.value, |range| range.sum);
        count += sample.range.map_or(1.0, |range| range.count);
    }
    let ticks = 45_000 - count as i64..45_000;
    assert_eq!(sum, ticks.map(|tick| values(tick).1).sum::<f64>());
    assert!(
        gauge
            .iter()
            .all(|sample| sample.range.is_none_or(|range| range.min <= range.max && range.max <= 99.0))
    );
    // Each resolution is there.
    let steps: Vec<i64> = gauge
        .windows(2)
        .map(|pair| {
            (pair[1].clock.boottime.0.cast_signed() - pair[0].clock.boottime.0.cast_signed()) / SECOND_NS
        })
        .collect();
    for step in [1, 10, 60] {
        assert!(steps.iter().filter(|found| **found == step).count() > 100, "{step}");
    }
    assert!(samples.len() < 10_000);
}

#[test]
fn a_clock_that_is_set_ages_nothing() {
    let scratch = Scratch::new("clock");
    let mut store = Store::open(&scratch.file(), tiers()).unwrap();
    // A week ahead after half an hour, and an hour back after two thirds of one.
    record(&mut store, 0..2500, |tick| {
        if tick >= 2400 {
            600_000 - 3600
        } else if tick >= 1800 {
            600_000
        } else {
            0
        }
    });
    let history = History::open(&scratch.file()).unwrap();
    assert_eq!(read(&history, "gauge").len(), 2500);
}

#[test]
fn a_file_that_is_too_large_loses_its_oldest() {
    let scratch = Scratch::new("size");
    let retention = Retention { most_bytes: 150_000, ..tiers() };
    let mut store = Store::open(&scratch.file(), retention).unwrap();
    let ids: Vec<_> =
        (0..50).map(|number| store.series(&format!("series{number}"), SeriesKind::Gauge)).collect();
    for tick in 0..6_000 {
        // Hardly to be compressed.
        let values: Vec<_> = ids
            .iter()
            .enumerate()
            .map(|(place, id)| (*id, ((tick * 7919 + place as i64) as f64).sin()))
            .collect();
        store.append(&Tick { clock: clock(tick, 0), boot_id: "boot", values: &values, tasks: None }).unwrap();
    }
    assert!(store.file_bytes() < 1_200_000, "{}", store.file_bytes());
    let history = History::open(&scratch.file()).unwrap();
    let samples = read(&history, "series7");
    assert_eq!(samples.last().unwrap().clock, clock(5_999, 0));
}

/// Open descriptors and resident pages of this process.
fn own_use() -> (usize, usize) {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    (descriptors, statm.split(' ').nth(1).unwrap().parse().unwrap())
}

#[test]
fn hours_of_ticks_leave_everything_as_it_is() {
    const HOUR: i64 = 3600;
    let scratch = Scratch::new("day");
    let tier = |step_s, keep_s| Tier { step_s, keep_s };
    let retention = Retention { tiers: vec![tier(0, HOUR), tier(10, 3 * HOUR)], ..tiers() };
    let mut store = Store::open(&scratch.file(), retention).unwrap();
    let ids: Vec<_> =
        (0..20).map(|number| store.series(&format!("series{number}"), SeriesKind::Gauge)).collect();
    let mut machine = Machine::new(7);
    let mut hours = Vec::new();
    // Fifteen: from the fifth on one hour is like another.
    for hour in 0..15 {
        for tick in hour * HOUR..(hour + 1) * HOUR {
            // Of every tick it holds as well, in two minutes.
            let has_tasks = tick % 10 == 0;
            if has_tasks {
                machine.second = tick.cast_unsigned();
                let _ = machine.advance();
            }
            let tasks = has_tasks.then_some(TaskTick { store: &machine.store, lost_exits: 0 });
            let values: Vec<_> =
                ids.iter().zip(1..).map(|(id, number)| (*id, (tick * number * 7 % 1000) as f64)).collect();
            let clock = machine::clock(tick.cast_unsigned() + 1);
            store.append(&Tick { clock, boot_id: "boot", values: &values, tasks }).unwrap();
        }
        hours.push((store.file_bytes(), own_use()));
    }
    assert_eq!(store.lost(), (0, 0));
    // From the fifth hour on as much is deleted as is recorded, a block at a time.
    let most = |from: usize, to: usize| {
        let hours = &hours[from..to];
        let bytes = hours.iter().map(|(bytes, _)| *bytes).max().unwrap();
        let descriptors = hours.iter().map(|(_, (descriptors, _))| *descriptors).max().unwrap();
        let pages = hours.iter().map(|(_, (_, pages))| *pages).max().unwrap();
        (bytes, descriptors, pages)
    };
    let (before, after) = (most(5, 10), most(10, 15));
    assert!(after.0 <= before.0 + before.0 / 5, "{before:?} {after:?} bytes");
    // Other tests run in this process, too.
    assert!(after.1 <= before.1 + 8, "{before:?} {after:?} descriptors");
    assert!(after.2 <= before.2 + 8192, "{before:?} {after:?} pages");
    assert_eq!(History::open(&scratch.file()).unwrap().verify().unwrap(), Vec::<String>::new());
}

#[test]
fn a_suspend_and_a_new_boot_are_gaps() {
    let scratch = Scratch::new("suspend");
    let mut store = Store::open(&scratch.file(), tiers()).unwrap();
    let counter = store.series("counter_total", SeriesKind::Counter);
    let mut append = |realtime_s: i64, boottime_s: i64, monotonic_s: i64, boot_id: &str, value: f64| {
        let at = |second: i64| Nanos((second * SECOND_NS).cast_unsigned());
        let realtime = Nanos((START_NS + realtime_s * SECOND_NS).cast_unsigned());
        let clock = Clock { realtime, boottime: at(boottime_s), monotonic: at(monotonic_s) };
        store.append(&Tick { clock, boot_id, values: &[(counter, value)], tasks: None }).unwrap();
    };
    // Two hours of suspend: the monotonic clock stands still, the boot clock goes on. Then the machine starts again.
    (0..700).for_each(|tick| append(tick, 100 + tick, 100 + tick, "first", (tick * 10) as f64));
    (700..1400).for_each(|tick| append(7200 + tick, 7300 + tick, 100 + tick, "first", (tick * 10) as f64));
    (0..700).for_each(|tick| append(9000 + tick, tick, tick, "second", tick as f64));
    store.close().unwrap();
    let history = History::open(&scratch.file()).unwrap();
    let samples = read(&history, "counter_total");
    assert_eq!(samples.len(), 2100);
    for pair in samples.windows(2) {
        let [before, after] = [pair[0].clock, pair[1].clock];
        let seconds = |clock: fn(Clock) -> Nanos| {
            (clock(after).0.cast_signed() - clock(before).0.cast_signed()) / SECOND_NS
        };
        let gap = seconds(|clock| clock.realtime);
        let asleep = seconds(|clock| clock.boottime) - seconds(|clock| clock.monotonic);
        match gap {
            1 => assert_eq!(asleep, 0),
            7201 => assert_eq!(asleep, 7200),
            _ => assert!(after.boottime < before.boottime, "only a new boot: {pair:?}"),
        }
        // A rate over the gap is over all of it.
        assert!(pair[1].value >= pair[0].value || after.boottime < before.boottime);
    }
    assert_eq!(history.extent().unwrap().boots, 2);
    assert_eq!(history.verify().unwrap(), Vec::<String>::new());
}
