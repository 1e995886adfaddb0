//! The messages between the recorder and the server.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use facts::task::TaskSource;
use history::metrics::ALERTS;
use serde::{Deserialize, Serialize};

/// The most alerts that are recorded as series.
const MAX_ALERTS: usize = 1000;
/// Receivers whose figures are recorded.
const MAX_RECEIVERS: usize = 64;
/// The longest name of such a series.
const MAX_NAME_BYTES: usize = 2048;

/// A message from the recorder. Its body is described with each.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum ToServer {
    /// The first message, repeated when it has changed. No body.
    Setup(Setup),
    /// A round of tasks. Body: the tables of one round, with the changes since the last round or with all tasks.
    Round {
        /// It has all tasks.
        is_whole: bool,
    },
    /// Names of series that were not sent before; each gets the next number. No body.
    Names(Vec<String>),
    /// A tick that is in the history. Its round was sent before it. Body: the values of series, if they are subscribed to.
    Tick {
        /// When, in milliseconds since 1970.
        at_ms: i64,
        /// A round belongs to it.
        has_tasks: bool,
    },
    /// The reply to a request for the status. Body: lines of `name value`.
    Status,
}

/// The message that the server needs to open its services.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The bytes of the path of the database: it need not be UTF-8, as strings of JSON are.
    history: Vec<u8>,
    /// `None` if tasks are not read.
    pub tasks: Option<TaskReading>,
}

impl Setup {
    /// Creates it for the database of a history.
    pub fn new(history: &Path, tasks: Option<TaskReading>) -> Self {
        Self { history: history.as_os_str().as_bytes().to_vec(), tasks }
    }

    /// Returns the path of the database that the recorder writes.
    pub fn history(&self) -> PathBuf {
        OsStr::from_bytes(&self.history).into()
    }
}

/// How the recorder reads tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskReading {
    /// The interval between two readings, in nanoseconds.
    pub interval_ns: u64,
    source: String,
    /// Delays are counted; `None`: not known.
    pub is_accounting_on: Option<bool>,
}

impl TaskReading {
    /// Creates it for readings that are so many nanoseconds apart.
    pub fn new(interval_ns: u64, source: TaskSource, is_accounting_on: Option<bool>) -> Self {
        Self { interval_ns, source: source.name().to_owned(), is_accounting_on }
    }

    /// Returns the source, or `None` if this version does not know its name.
    pub fn source(&self) -> Option<TaskSource> {
        TaskSource::from_name(&self.source)
    }
}

/// A message from the server. None has a body.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum ToRecorder {
    /// Replaces the subscription.
    Subscribe(Subscription),
    /// Sent after each tick.
    Report(ServerReport),
}

/// The data that the recorder sends only while a client needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// The values of series with each tick.
    pub series: bool,
    /// All tasks, and then each round.
    pub tasks: bool,
    /// The status, once.
    pub status: bool,
}

/// The figures of the server that the recorder records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerReport {
    /// CPU time of the process in seconds.
    pub cpu_s: f64,
    /// The part of it that answers to requests took.
    pub requests_cpu_s: f64,
    /// Peak of resident memory.
    pub peak_bytes: u64,
    /// The names of the series of active alerts.
    pub alerts: Vec<String>,
    /// The counters of feeds, in the order of `feed_series`; empty until feeds were polled.
    pub feeds: Vec<f64>,
    /// The receivers of remote write.
    pub receivers: Vec<ReceiverFigures>,
}

/// The metrics of a receiver of remote write. The catalogue has their meanings.
pub const RECEIVER_METRICS: [&str; 7] = [
    "whit_remote_write_behind_seconds",
    "whit_remote_write_samples_total",
    "whit_remote_write_refused_samples_total",
    "whit_remote_write_sent_bytes_total",
    "whit_remote_write_failures_total",
    "whit_remote_write_rule_failures_total",
    "whit_remote_write_clock_ahead_seconds",
];

/// A receiver of remote write, and its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReceiverFigures {
    /// Its name.
    pub name: String,
    /// In the order of [`RECEIVER_METRICS`]. `None`: it is not known.
    pub figures: [Option<f64>; RECEIVER_METRICS.len()],
}

impl ServerReport {
    /// Removes what is not recorded: alerts that are too many, too long, or of another metric than `ALERTS`, and receivers beyond a bound.
    pub fn validated(mut self) -> Self {
        self.receivers.truncate(MAX_RECEIVERS);
        self.receivers.retain(|receiver| receiver.name.len() <= MAX_NAME_BYTES);
        self.alerts.truncate(MAX_ALERTS);
        self.alerts.retain(|name| name.len() <= MAX_NAME_BYTES && name.starts_with(ALERTS));
        self
    }
}

/// Appends the value of the series with a number.
pub fn push_value(series: u32, value: f64, out: &mut Vec<u8>) {
    out.extend(series.to_le_bytes());
    out.extend(value.to_le_bytes());
}

/// Returns the values of a body, each with the number of its series.
pub fn values(body: &[u8]) -> impl Iterator<Item = (usize, f64)> {
    body.as_chunks::<12>().0.iter().map(|bytes| {
        let [s0, s1, s2, s3, value @ ..] = *bytes;
        (u32::from_le_bytes([s0, s1, s2, s3]) as usize, f64::from_le_bytes(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip() {
        let mut body = Vec::new();
        push_value(0, 1.5, &mut body);
        push_value(70_000, f64::INFINITY, &mut body);
        assert_eq!(values(&body).collect::<Vec<_>>(), [(0, 1.5), (70_000, f64::INFINITY)]);
        assert_eq!(values(&body[..20]).count(), 1, "an incomplete value is ignored");
    }

    #[test]
    fn what_is_not_known_of_a_receiver_round_trips() {
        let mut figures = [Some(1.5); RECEIVER_METRICS.len()];
        figures[0] = None;
        let receivers = vec![ReceiverFigures { name: "store".to_owned(), figures }];
        let report = ServerReport { receivers, ..ServerReport::default() };
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<ServerReport>(&text).unwrap(), report);
    }

    #[test]
    fn only_series_of_alerts_are_accepted() {
        let alerts = vec![
            "ALERTS{a=\"b\"}".to_owned(),
            "node_load1".to_owned(),
            format!("ALERTS{{{}", "a".repeat(9000)),
        ];
        let report = ServerReport { alerts, ..ServerReport::default() }.validated();
        assert_eq!(report.alerts, ["ALERTS{a=\"b\"}"]);
    }
}
