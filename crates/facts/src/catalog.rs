//! The catalogue: one row a metric of the machine, one a figure of a task, and one a series of the agent. Documentation, `whit doctor --metrics`, JSON fields and
//! exported series come from it.

mod access;
mod agent;
mod document;
mod protocols;
mod restore;
mod rows;
mod tasks;

pub use agent::{AGENT_METRICS, AgentMetric, agent_metric};
pub use document::markdown;
pub use restore::{RESTORED, Restoration};
pub use rows::METRICS;
pub use tasks::{TASK_METRICS, TASK_WAITING, TaskMetric, task_metric};

use std::fmt;

use crate::sample::Sample;
use crate::source::Source;

/// The unit in which a value is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Bits per second.
    BitsPerSecond,
    /// Kibibytes, as /proc/vmstat counts.
    Kibibytes,
    /// Seconds.
    Seconds,
    /// Nanoseconds, in JSON.
    Nanoseconds,
    /// Pages of memory.
    Pages,
    /// A share from 0 to 1.
    Ratio,
    /// A share from 0 to 100.
    Percent,
    /// Degrees Celsius.
    Celsius,
    /// Watt-hours.
    WattHours,
    /// Watts.
    Watts,
    /// Cycles per second.
    Hertz,
    /// Decibels against a milliwatt.
    DecibelMilliwatts,
    /// A number of things.
    Count,
    /// A figure without unit.
    None,
}

impl Unit {
    /// The last word of a series' name, before `_total`; `None` if the name ends in what is counted.
    pub fn suffix(self) -> Option<&'static str> {
        match self {
            Self::Bytes => Some("bytes"),
            Self::BytesPerSecond => Some("bytes"),
            Self::BitsPerSecond => Some("bits_per_second"),
            Self::Seconds => Some("seconds"),
            Self::Nanoseconds => Some("ns"),
            Self::Pages => Some("pages"),
            Self::Ratio => Some("ratio"),
            Self::Celsius => Some("celsius"),
            Self::Hertz => Some("hertz"),
            Self::DecibelMilliwatts => Some("dbm"),
            // The kernel's own names, and node_exporter's.
            Self::Kibibytes | Self::Percent | Self::WattHours | Self::Watts | Self::Count | Self::None => {
                None
            }
        }
    }

    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::BytesPerSecond => "bytes per second",
            Self::BitsPerSecond => "bits per second",
            Self::Kibibytes => "KiB",
            Self::Seconds => "seconds",
            Self::Nanoseconds => "nanoseconds",
            Self::Pages => "pages",
            Self::Ratio => "ratio",
            Self::Percent => "per cent",
            Self::Celsius => "°C",
            Self::WattHours => "Wh",
            Self::Watts => "W",
            Self::Hertz => "Hz",
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

/// The value of a label, as the sample has it: nothing is allocated for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelValue<'a> {
    /// Text.
    Text(&'a str),
    /// A path or a device. Bytes that are not UTF-8 are written as U+FFFD.
    Bytes(&'a [u8]),
    /// A number: that of a CPU.
    Number(u64),
}

impl fmt::Display for LabelValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
        }
    }
}

/// Takes one value of a metric: the values of its labels in their order, and the figure.
pub type Visit<'a> = &'a mut dyn FnMut(&[LabelValue<'_>], f64);

/// One row: a metric of the machine, which is a series for each set of label values.
#[derive(Clone, Copy)]
pub struct Metric {
    /// The series' name: node_exporter's if it measures the same, otherwise one that starts with `whit_`.
    pub name: &'static str,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// The unit in which it is measured.
    pub unit: Unit,
    /// How it behaves.
    pub kind: Kind,
    /// Where it is read.
    pub source: Source,
    /// The first kernel that has it.
    pub since: &'static str,
    /// A sentence that describes it.
    pub help: &'static str,
    /// How it is found in a sample. What a sample lacks is not visited.
    visit: fn(&Sample, Visit<'_>),
}

impl Metric {
    /// Visits each value that the sample has. Allocates nothing.
    pub fn visit(&self, sample: &Sample, visit: Visit<'_>) {
        (self.visit)(sample, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_follow_the_conventions() {
        for (index, metric) in METRICS.iter().enumerate() {
            let name = metric.name;
            assert!(METRICS[..index].iter().all(|other| other.name != name), "{name} stands twice");
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            assert!(name.bytes().all(is_plain), "{name}");
            assert!(name.starts_with("node_") || name.starts_with("whit_"), "{name}");
            // Counters of /proc/vmstat, of protocols and of the ARC have the kernel's names there.
            if ["node_vmstat_", "node_netstat_", "node_zfs_"].iter().any(|kernel| name.starts_with(kernel)) {
                continue;
            }
            assert_eq!(name.ends_with("_total"), metric.kind == Kind::Counter, "{name}");
            if let Some(suffix) = metric.unit.suffix() {
                assert!(
                    name.trim_end_matches("_total").ends_with(&format!("_{suffix}")),
                    "{name} is in {suffix}"
                );
            }
        }
    }

    #[test]
    fn task_series_follow_the_conventions() {
        for metric in &TASK_METRICS {
            let name = metric.exported;
            assert!(name.starts_with("whit_task_"), "{name}");
            assert_eq!(name.ends_with("_total"), metric.kind == Kind::Counter, "{name}");
            let suffix =
                if metric.unit == Unit::Nanoseconds { Some("seconds") } else { metric.unit.suffix() };
            if let Some(suffix) = suffix {
                assert!(name.trim_end_matches("_total").ends_with(&format!("_{suffix}")), "{name}");
            }
        }
    }

    #[test]
    fn label_values_read_as_text() {
        let values =
            [LabelValue::Text("eth0"), LabelValue::Number(12), LabelValue::Bytes(b"/mnt/\xff\xffa\xc3\xa4")];
        assert_eq!(values.map(|value| value.to_string()), ["eth0", "12", "/mnt/\u{fffd}\u{fffd}aä"]);
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
            metric.visit(&sample, &mut |labels, value| panic!("{}{labels:?} = {value}", metric.name));
        }
    }
}
