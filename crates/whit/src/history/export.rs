//! Samples as text that other programs read.

use std::fmt::{self, Write as _};

use formats::relabel::Relabelling;
use formats::sample_lines::CSV_HEAD;
use formats::series_name::metric_of;
use serde_json::{Value, json};
use store::{History, Sample, SeriesKind, StoreError};

use super::arguments::{Format, Window};
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;

/// The number of bytes after which output is written.
const BYTES_AT_A_TIME: usize = 256 * 1024;

/// Writes the samples of all series that match a pattern. Returns how much was damaged and left out.
pub(super) fn write(
    history: &History,
    window: &Window,
    format: Format,
    relabelling: &Relabelling,
    failed: &impl Fn(StoreError) -> Failure,
) -> Result<u64, Failure> {
    let mut out = Output::stdout();
    let (mut text, mut damaged) = (String::new(), 0);
    let mut family = String::new();
    if format == Format::Csv {
        text.push_str(CSV_HEAD);
        text.push('\n');
    }
    for Exported { recorded, name, kind } in select(history, window, relabelling)? {
        let mut samples = Vec::new();
        damaged += history
            .read(recorded, window.from_ns, window.to_ns, |sample| samples.push(sample))
            .map_err(failed)?;
        if samples.is_empty() {
            continue;
        }
        let name = name.as_str();
        match format {
            Format::Csv => push_csv(&mut text, name, &samples),
            Format::Json => push_json(&mut text, name, kind, &samples)?,
            Format::Prometheus | Format::OpenMetrics => {
                let metric = metric_of(name);
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

/// A series that is exported.
struct Exported<'h> {
    /// The name in the history.
    recorded: &'h str,
    /// Its name in the export.
    name: String,
    kind: SeriesKind,
}

/// All series of a metric stand behind one another: "a_b" would come between "a" and "a{…}" otherwise.
fn select<'h>(
    history: &'h History,
    window: &Window,
    relabelling: &Relabelling,
) -> Result<Vec<Exported<'h>>, Failure> {
    let is_wanted =
        |name: &str| window.series.is_empty() || window.series.iter().any(|pattern| matches(pattern, name));
    let mut selected: Vec<Exported<'_>> = history
        .series()
        .into_iter()
        .filter(|(name, _)| is_wanted(name))
        .filter_map(|(recorded, kind)| Some(Exported { recorded, name: relabelling.rename(recorded)?, kind }))
        .collect();
    selected.sort_by(|first, second| {
        (metric_of(&first.name), &first.name).cmp(&(metric_of(&second.name), &second.name))
    });
    match selected.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(Failure::new(format!(
            "the rules give {} and {} the same name, {}",
            pair[0].recorded, pair[1].recorded, pair[0].name
        ))),
        None => Ok(selected),
    }
}

/// Returns true if a whole name matches a pattern: `*` stands for any text, everything else for itself. A name has slashes and braces.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(begin) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(place) => name = &name[place + part.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

/// As Prometheus writes numbers: `+Inf`, `-Inf`, `NaN`, and powers of ten where a number is very long.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            f64::INFINITY => f.write_str("+Inf"),
            f64::NEG_INFINITY => f.write_str("-Inf"),
            number if number != 0.0 && !(1e-6..1e18).contains(&number.abs()) && !number.is_nan() => {
                write!(f, "{number:e}")
            }
            number => write!(f, "{number}"),
        }
    }
}

fn push_csv(text: &mut String, name: &str, samples: &[Sample]) {
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    for sample in samples {
        let _ = writeln!(text, "{},{quoted},{}", sample.clock.realtime.0, Number(sample.value));
    }
}

/// A document a series: times and values side by side.
fn push_json(text: &mut String, name: &str, kind: SeriesKind, samples: &[Sample]) -> Result<(), Failure> {
    let kind = match kind {
        SeriesKind::Counter => "counter",
        SeriesKind::Gauge => "gauge",
    };
    let times: Vec<u64> = samples.iter().map(|sample| sample.clock.realtime.0).collect();
    // JSON has no NaN and no infinity: they are texts.
    let value = |value: f64| if value.is_finite() { json!(value) } else { json!(Number(value).to_string()) };
    let values: Vec<Value> = samples.iter().map(|sample| value(sample.value)).collect();
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
                writeln!(
                    text,
                    "{name} {} {}.{:03}",
                    Number(sample.value),
                    milliseconds / 1000,
                    milliseconds % 1000
                )
            }
            _ => writeln!(text, "{name} {} {milliseconds}", Number(sample.value)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_are_of_names() {
        let name = "node_filesystem_files{device=\"/dev/vda\",mountpoint=\"/\"}";
        for pattern in [name, "*", "node_filesystem*", "*device=\"/dev/vda\"*", "*files{*vda*}", "**/**"] {
            assert!(matches(pattern, name), "{pattern}");
        }
        for pattern in ["", "node", "node_filesystem", "*vdb*", "*vda", "n*n*n*n*n*n*n*"] {
            assert!(!matches(pattern, name), "{pattern}");
        }
    }
}
