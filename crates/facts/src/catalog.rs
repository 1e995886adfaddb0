//! The catalogue: one row a metric of the machine, and one a figure of a task. Documentation, `whit doctor --metrics`, JSON fields and
//! exported series come from it.

mod access;
mod document;
mod rows;
mod tasks;

pub use document::markdown;
pub use rows::METRICS;
pub use tasks::{TASK_METRICS, TaskMetric, task_metric};

use crate::sample::Sample;
use crate::source::Source;

/// What a value is measured in; the last word of the metric's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Kibibytes, where the kernel counts those.
    Kibibytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Milliseconds, where the kernel counts those.
    Milliseconds,
    /// Clock ticks, 100 to the second on every port in use.
    Ticks,
    /// Seconds since 1970.
    Seconds,
    /// Sectors of 512 bytes.
    Sectors,
    /// Pages of memory.
    Pages,
    /// A share from 0 to 100.
    Percent,
    /// Thousandths of a degree Celsius.
    Millidegrees,
    /// Micro-watt-hours.
    MicrowattHours,
    /// Microwatts.
    Microwatts,
    /// Megabits per second.
    Megabits,
    /// Kilobits per second.
    Kilobits,
    /// Thousands of cycles per second.
    Kilohertz,
    /// Decibels against a milliwatt.
    DecibelMilliwatts,
    /// A number of things, named by the metric itself.
    Count,
    /// A figure without unit.
    None,
}

impl Unit {
    /// The name's last word; none where the name ends in what is counted.
    pub fn suffix(self) -> Option<&'static str> {
        match self {
            Self::Bytes => Some("bytes"),
            Self::Kibibytes => Some("kib"),
            Self::Nanoseconds => Some("ns"),
            Self::Milliseconds => Some("ms"),
            Self::Ticks => Some("ticks"),
            Self::Seconds => Some("s"),
            Self::Sectors => Some("sectors"),
            Self::Pages => Some("pages"),
            Self::Percent => Some("percent"),
            Self::Millidegrees => Some("millidegrees"),
            Self::MicrowattHours => Some("uwh"),
            Self::Microwatts => Some("uw"),
            Self::Megabits => Some("mbit"),
            Self::Kilobits => Some("kbit"),
            Self::Kilohertz => Some("khz"),
            Self::DecibelMilliwatts => Some("dbm"),
            Self::Count | Self::None => None,
        }
    }

    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Kibibytes => "KiB",
            Self::Nanoseconds => "nanoseconds",
            Self::Milliseconds => "milliseconds",
            Self::Ticks => "clock ticks",
            Self::Seconds => "seconds since 1970",
            Self::Sectors => "sectors of 512 bytes",
            Self::Pages => "pages",
            Self::Percent => "per cent",
            Self::Millidegrees => "thousandths of a °C",
            Self::MicrowattHours => "µWh",
            Self::Microwatts => "µW",
            Self::Megabits => "Mbit/s",
            Self::Kilobits => "kbit/s",
            Self::Kilohertz => "kHz",
            Self::DecibelMilliwatts => "dBm",
            Self::Count => "count",
            Self::None => "–",
        }
    }
}

/// How a value behaves over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only goes up, until it is reset: meant to be subtracted.
    Counter,
}

impl Kind {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
        }
    }
}

/// Takes one value of a labelled metric: the label's value, and the figure.
pub type Visit<'a> = &'a mut dyn FnMut(&str, f64);

/// Where the values are in a sample. What a sample lacks is not visited.
#[derive(Clone, Copy)]
pub enum Values {
    /// One for the machine.
    One(fn(&Sample) -> Option<f64>),
    /// One for each CPU, interface, disk …; the label's name comes first.
    Each(&'static str, fn(&Sample, Visit<'_>)),
}

/// One row.
pub struct Metric {
    /// Words with underscores, the unit last.
    pub name: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// How it behaves.
    pub kind: Kind,
    /// Where it is read.
    pub source: Source,
    /// The first kernel that has it.
    pub since: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// How it is found in a sample.
    pub values: Values,
}

impl Metric {
    /// Hands over each value that the sample has, with its label's value ("" where there is no label).
    pub fn visit(&self, sample: &Sample, visit: Visit<'_>) {
        match self.values {
            Values::One(value) => {
                if let Some(value) = value(sample) {
                    visit("", value);
                }
            }
            Values::Each(_, each) => each(sample, visit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        for (index, metric) in METRICS.iter().enumerate() {
            let name = metric.name;
            assert!(METRICS[..index].iter().all(|other| other.name != name), "{name} stands twice");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
                "{name}"
            );
            if let Some(suffix) = metric.unit.suffix() {
                assert!(name.ends_with(&format!("_{suffix}")), "{name} is in {suffix}");
            }
        }
    }

    #[test]
    fn rows_say_what_they_are() {
        for metric in METRICS {
            assert!(metric.help.ends_with('.') && metric.help.len() > 10, "{}: {}", metric.name, metric.help);
            assert!(metric.since.split('.').all(|number| number.parse::<u32>().is_ok()), "{}", metric.name);
        }
    }

    #[test]
    fn an_empty_sample_has_no_values() {
        let sample = Sample::default();
        for metric in METRICS {
            metric.visit(&sample, &mut |label, value| panic!("{}{{{label}}} = {value}", metric.name));
        }
    }
}
