//! Series with many samples: how fast they come in and out, and what they take on the disk.

use std::fs;
use std::path::Path;

use facts::sample::Clock;
use facts::unit::Nanos;
use formats::series_name::SeriesName;
use remote_store::RemoteStore;
use store::{Engine, PlainTables, SeriesKind, StoreEngine, StoreError, Tick};

use super::super::measurement::{Measurement, Unit, own_wall};
use super::super::options::BenchOptions;
use super::super::scanning::Scratch;
use probe::random;

const SERIES: usize = 500;
/// An hour at one a second, of which one third is written here.
const TICKS: u64 = 1200;
/// Series that are read again: tens of thousands of samples.
const READ: usize = 40;
const FIRST_S: u64 = 1_700_000_000;
const MAX_ROUNDS: usize = 3;

/// The quantity that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    In,
    Out,
    Bytes,
}

pub(super) fn measurements(options: &BenchOptions, remote: Option<&RemoteStore>) -> Vec<Measurement> {
    let scratch = Scratch::new(&options.directory, "series", |_| Ok(()));
    let ours = format!("{SERIES} series as a machine has them, {TICKS} samples each, a tick at a time");
    let of = |question: Question, name, title, unit, how: String| {
        let side = |open: fn(&Path) -> Result<Box<dyn Engine>, StoreError>| {
            let scratch = scratch.clone();
            move || {
                let directory = scratch.path()?.join(random::hex());
                fs::create_dir(&directory).map_err(|error| error.to_string())?;
                let opened = open(&directory.join("series")).map_err(described);
                let measured = opened.and_then(|mut engine| answer(engine.as_mut(), question));
                let _ = fs::remove_dir_all(&directory);
                measured
            }
        };
        let measurement = Measurement::new(name, title, unit, how)
            .at_most(MAX_ROUNDS)
            .side("whit's store", &[], side(|path| Ok(Box::new(StoreEngine::open(path)?))))
            .side("a row of SQLite each", &[], side(|path| Ok(Box::new(PlainTables::open(path)?))));
        match remote.filter(|_| question != Question::Bytes) {
            Some(remote) => {
                let remote = remote.clone();
                measurement.side("the store at the URL", &[], move || answer_of(&remote, question))
            }
            None => measurement,
        }
    };
    vec![
        of(
            Question::In,
            "datastore-samples-in",
            "Samples into a store",
            Unit::Wall("a sample"),
            format!(
                "Time that passes for a sample. {ours}; the store at the URL gets a request for every 60 ticks."
            ),
        ),
        of(
            Question::Out,
            "datastore-samples-out",
            "Tens of thousands of samples out of a store",
            Unit::Wall("a sample"),
            format!("Time that passes for a sample, of the samples of {READ} series, each compared. {ours}."),
        ),
        of(
            Question::Bytes,
            "datastore-bytes",
            "Bytes of a sample",
            Unit::Count("bytes a sample"),
            format!("The size of the file by its samples. {ours}."),
        ),
    ]
}

fn described(error: StoreError) -> String {
    error.to_string()
}

fn name(series: usize) -> String {
    format!("bench{{series=\"{series}\"}}")
}

/// A third is constant, a third are counters, a third goes up and down.
fn value(series: usize, tick: u64) -> f64 {
    let noise = (tick + 1).wrapping_mul(series as u64 * 2 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    match series % 3 {
        0 => series as f64,
        1 => (tick * (series as u64 + 100) + noise % 64) as f64,
        _ => (40_960 + noise % 4096) as f64 / 4.0,
    }
}

/// Nanoseconds for a sample, or bytes.
fn answer(engine: &mut dyn Engine, question: Question) -> Result<f64, String> {
    let kind = |series| if series % 3 == 1 { SeriesKind::Counter } else { SeriesKind::Gauge };
    let ids: Vec<_> = (0..SERIES).map(|series| engine.series(&name(series), kind(series))).collect();
    let mut fill = || -> Result<(), String> {
        for tick in 0..TICKS {
            let at = Nanos((FIRST_S + tick) * Nanos::SECOND.0);
            let values: Vec<_> =
                ids.iter().enumerate().map(|(series, id)| (*id, value(series, tick))).collect();
            let clock = Clock { realtime: at, boottime: at, monotonic: at };
            engine
                .append(&Tick { clock, boot_id: "bench", values: &values, tasks: None })
                .map_err(described)?;
        }
        Ok(())
    };
    let samples = SERIES as f64 * TICKS as f64;
    if question == Question::In {
        return own_wall(1, fill).map(|ns| ns / samples);
    }
    fill()?;
    let bytes = engine.finish().map_err(described)?;
    if question == Question::Bytes {
        return Ok(bytes as f64 / samples);
    }
    let chosen: Vec<usize> = (0..SERIES).step_by(SERIES / READ).take(READ).collect();
    let read = || {
        for series in &chosen {
            let (mut tick, mut is_same) = (0, true);
            let mut each = |_, found: f64| {
                is_same &= found.to_bits() == value(*series, tick).to_bits();
                tick += 1;
            };
            engine.read(&name(*series), i64::MIN, i64::MAX, &mut each).map_err(described)?;
            if !is_same || tick != TICKS {
                return Err(format!("{} is not what was written", name(*series)));
            }
        }
        Ok(())
    };
    own_wall(1, read).map(|ns| ns / (chosen.len() as f64 * TICKS as f64))
}

/// Measures a remote store, which takes only samples of the last hour.
fn answer_of(remote: &RemoteStore, question: Question) -> Result<f64, String> {
    let run = random::hex();
    let now_s = probe::clock_now().realtime.0 / Nanos::SECOND.0;
    let first_s = now_s - TICKS;
    let names: Vec<SeriesName> = (0..SERIES)
        .map(|series| {
            let mut name = SeriesName::new("whit_bench_series");
            name.set("run", &run);
            name.set("series", &series.to_string());
            name
        })
        .collect();
    let fill = || -> Result<(), String> {
        for minute in (0..TICKS).step_by(60) {
            let samples: Vec<Vec<(i64, f64)>> = (0..SERIES)
                .map(|series| {
                    (minute..minute + 60)
                        .map(|tick| ((first_s + tick).cast_signed() * 1000, value(series, tick)))
                        .collect()
                })
                .collect();
            remote.append(names.iter().zip(&samples).map(|(name, samples)| (name, samples.as_slice())))?;
        }
        Ok(())
    };
    if question == Question::In {
        return own_wall(1, fill).map(|ns| ns / (SERIES as f64 * TICKS as f64));
    }
    fill()?;
    let chosen: Vec<usize> = (0..SERIES).step_by(SERIES / READ).take(READ).collect();
    let read = || -> Result<(), String> {
        for series in &chosen {
            let found = remote.select(&format!("{}[1h]", names[*series]), now_s as f64 + 1.0)?;
            let samples = found.first().map(Vec::as_slice).unwrap_or_default();
            let is_same = samples.iter().zip(0..).all(|((_, found), tick)| *found == value(*series, tick));
            if samples.len() as u64 != TICKS || !is_same {
                return Err(format!("{} of {TICKS} samples came back, or others", samples.len()));
            }
        }
        Ok(())
    };
    // What was written can be read a moment later.
    settle(&read)?;
    own_wall(1, read).map(|ns| ns / (chosen.len() as f64 * TICKS as f64))
}

/// Waits until everything can be read.
fn settle(read: &dyn Fn() -> Result<(), String>) -> Result<(), String> {
    for _ in 0..60 {
        if read().is_ok() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    read()
}
