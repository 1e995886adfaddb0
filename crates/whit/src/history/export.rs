//! Samples as text that other programs read.

use std::fmt::Write as _;

use fast_glob::glob_match;
use serde_json::json;
use store::{History, Sample, SeriesKind, StoreError};

use super::arguments::{Format, Window};
use crate::document::{DocumentKind, Documents};
use crate::failure::Failure;
use crate::output::Output;

/// What was made is written after so many bytes.
const BYTES_AT_A_TIME: usize = 256 * 1024;

/// Writes the samples of all series that match a pattern. Returns how much was damaged and left out.
pub(super) fn write(
    history: &History,
    window: &Window,
    format: Format,
    failed: &impl Fn(StoreError) -> Failure,
) -> Result<u64, Failure> {
    let mut out = Output::stdout();
    let (mut text, mut damaged) = (String::new(), 0);
    let mut family = String::new();
    if format == Format::Csv {
        text.push_str("realtime_ns,series,value\n");
    }
    let mut series = history.series();
    // All series of a metric behind one another: "a_b" stands between "a" and "a{…}" otherwise.
    series.sort_by_key(|(name, _)| (metric(name), *name));
    for (name, kind) in series {
        let is_wanted =
            window.series.is_empty() || window.series.iter().any(|pattern| glob_match(pattern, name));
        if !is_wanted {
            continue;
        }
        let mut samples = Vec::new();
        damaged += history
            .read(name, window.from_ns, window.to_ns, |sample| samples.push(sample))
            .map_err(failed)?;
        if samples.is_empty() {
            continue;
        }
        match format {
            Format::Csv => push_csv(&mut text, name, &samples),
            Format::Json => push_json(&mut text, name, kind, &samples)?,
            Format::Prometheus | Format::OpenMetrics => {
                let metric = metric(name);
                if metric != family {
                    metric.clone_into(&mut family);
                    push_type(&mut text, metric, kind, format);
                }
                push_lines(&mut text, name, &samples, format);
            }
        }
        if text.len() > BYTES_AT_A_TIME {
            out.write(text.as_bytes())?;
            text.clear();
        }
    }
    if format == Format::OpenMetrics {
        text.push_str("# EOF\n");
    }
    out.write(text.as_bytes())?;
    Ok(damaged)
}

/// The name of a series without its labels.
fn metric(series: &str) -> &str {
    series.split_once('{').map_or(series, |(metric, _)| metric)
}

fn push_csv(text: &mut String, name: &str, samples: &[Sample]) {
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    for sample in samples {
        let _ = writeln!(text, "{},{quoted},{}", sample.clock.realtime.0, sample.value);
    }
}

/// A document a series: times and values side by side.
fn push_json(text: &mut String, name: &str, kind: SeriesKind, samples: &[Sample]) -> Result<(), Failure> {
    let kind = match kind {
        SeriesKind::Counter => "counter",
        SeriesKind::Gauge => "gauge",
    };
    let times: Vec<u64> = samples.iter().map(|sample| sample.clock.realtime.0).collect();
    let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    let body = json!({ "series": name, "kind": kind, "realtimes_ns": times, "values": values });
    Documents::of_live().push(DocumentKind::HistorySeries, probe::clock_now().realtime, &body, text)
}

/// The line before the first series of a metric. OpenMetrics calls a counter by its name without "_total".
fn push_type(text: &mut String, metric: &str, kind: SeriesKind, format: Format) {
    let is_total = metric.ends_with("_total");
    let (name, kind) = match (kind, format) {
        (SeriesKind::Counter, Format::OpenMetrics) if !is_total => (metric, "unknown"),
        (SeriesKind::Counter, Format::OpenMetrics) => (metric.trim_end_matches("_total"), "counter"),
        (SeriesKind::Counter, _) => (metric, "counter"),
        (SeriesKind::Gauge, _) => (metric, "gauge"),
    };
    let _ = writeln!(text, "# TYPE {name} {kind}");
}

/// Prometheus' text has milliseconds, OpenMetrics seconds.
fn push_lines(text: &mut String, name: &str, samples: &[Sample], format: Format) {
    for sample in samples {
        let milliseconds = sample.clock.realtime.0 / 1_000_000;
        let _ = match format {
            Format::OpenMetrics => {
                writeln!(text, "{name} {} {}.{:03}", sample.value, milliseconds / 1000, milliseconds % 1000)
            }
            _ => writeln!(text, "{name} {} {milliseconds}", sample.value),
        };
    }
}
