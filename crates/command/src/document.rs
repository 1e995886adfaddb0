//! JSON documents: what each begins with, and then its own fields. docs/schema holds a schema of each.

use std::fmt::Write as _;
use std::sync::OnceLock;

use facts::sample::Sample;
use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use probe::{Probe, Request, Roots};
use serde::Serialize;

use crate::failure::Failure;

/// The kind of a document: what a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// Memory: `whit free`.
    Free,
    /// A task, process or cgroup: `whit delays`.
    Delays,
    /// A table of tasks: `whit top --json`.
    Top,
    /// A command that ended: `whit run`.
    Run,
    /// A directory: `whit age`.
    Age,
    /// The number of its files.
    AgeNumber,
    /// A file that was listed.
    AgeFile,
    /// A file that was deleted.
    AgeDeletion,
    /// The result of a plugin.
    AgeVerdict,
    /// The cost of a scan.
    AgeCost,
    /// The report of a sink.
    Sink,
    /// A request that a sink received.
    SinkRequest,
    /// The report of a sender.
    Send,
    /// A measurement.
    Bench,
    /// A measurement that can be made.
    BenchList,
    /// A finding: `whit doctor`.
    Doctor,
    /// A history.
    History,
    /// A series of a history.
    HistorySeries,
    /// A receiver of remote write.
    HistoryReceiver,
    /// An exporter whose metrics are recorded.
    HistoryExporter,
    /// The answer to an expression.
    Query,
    /// The answer of `whit why`.
    Why,
    /// Alerts and notifications.
    Alerts,
    /// Checks and their states.
    Checks,
    /// Entries of feeds.
    Feeds,
    /// A machine of a fleet.
    Fleet,
    /// Marks of a history.
    Marks,
    /// A metric: `whit doctor --metrics`.
    Metrics,
    /// The self-test: `whit doctor --selftest`.
    Selftest,
}

/// Makes documents of one machine.
#[derive(Debug)]
pub struct Documents {
    roots: Roots,
    /// Read for the first document.
    boot_id: OnceLock<Option<String>>,
}

#[derive(Serialize)]
struct Document<'a, T> {
    document: DocumentKind,
    realtime_ns: u64,
    /// The same as text: beyond 2^53 many readers of JSON have no exact numbers.
    realtime: String,
    boot_id: Option<&'a str>,
    #[serde(flatten)]
    body: &'a T,
}

impl Documents {
    /// Creates documents of the machine at these roots.
    pub fn of(roots: &Roots) -> Self {
        Self { roots: roots.clone(), boot_id: OnceLock::new() }
    }

    /// Creates documents of the machine on which whit runs.
    pub fn of_live() -> Self {
        Self::of(&Roots::live())
    }

    /// Appends one, in a line; `realtime` is when its figures were read, since 1970.
    pub fn push(
        &self,
        kind: DocumentKind,
        realtime: Nanos,
        body: &impl Serialize,
        out: &mut String,
    ) -> Result<(), Failure> {
        let boot_id = self.boot_id.get_or_init(|| probe::boot_id(&self.roots)).as_deref();
        let document = Document {
            document: kind,
            realtime_ns: realtime.0,
            realtime: rfc3339(realtime.0.into()),
            boot_id,
            body,
        };
        push_with_times(&serde_json::to_string(&document).map_err(Failure::internal)?, out);
        out.push('\n');
        Ok(())
    }
}

/// Writes a time in nanoseconds since 1970 as RFC 3339 has it, in UTC, to the nanosecond.
pub fn rfc3339(realtime_ns: i128) -> String {
    let time = jiff::Timestamp::from_nanosecond(realtime_ns).unwrap_or_default();
    format!("{time:.9}")
}

/// What ends the key of a time within a body. In a string of JSON its quotation mark has a backslash before it.
const TIME_KEY: &str = "_realtime_ns\":";

/// Appends a document, in which each such time is followed by the same as text: null where it is null. A label can have a name that ends so as
/// well; its value is a string.
fn push_with_times(document: &str, out: &mut String) {
    let mut rest = document;
    while let Some(place) = rest.find(TIME_KEY) {
        let (key, value) = rest.split_at(place + TIME_KEY.len());
        let length = value.find([',', '}']).unwrap_or(value.len());
        let (value, behind) = value.split_at(length);
        let name = key[..place].rfind('"').map_or("", |quote| &key[quote + 1..place]);
        out.push_str(key);
        out.push_str(value);
        // A text takes whatever is written to it.
        let _ = match value.parse() {
            Ok(time) => write!(out, ",\"{name}_realtime\":\"{}\"", rfc3339(time)),
            Err(_) if value == "null" => write!(out, ",\"{name}_realtime\":null"),
            Err(_) => Ok(()),
        };
        rest = behind;
    }
    out.push_str(rest);
}

/// The time of day at a machine: now, or when it was captured.
pub fn realtime(roots: &Roots) -> Result<Nanos, Failure> {
    if !roots.is_captured() {
        return Ok(probe::clock_now().realtime);
    }
    let wanted = Wanted::from([Source::Uptime]);
    let mut sample = Sample::default();
    Probe::open(roots, &Request { wanted, ..Request::default() })?.sample(&mut sample);
    Ok(sample.clock.realtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_such_names_stay_as_they_are() {
        for document in
            [r#"{"labels":{"x_realtime_ns":"a,b"},"y":1}"#, r#"{"labels":{"x_realtime_ns":"17"}}"#]
        {
            let mut written = String::new();
            push_with_times(document, &mut written);
            assert_eq!(written, document);
        }
    }

    #[test]
    fn times_within_a_document_are_text_as_well() {
        let document = r#"{"realtime_ns":1,"since_realtime_ns":1700000000000000001,"a":[{"until_realtime_ns":null}],"text":"_realtime_ns\":5"}"#;
        let mut written = String::new();
        push_with_times(document, &mut written);
        let expected = r#"{"realtime_ns":1,"since_realtime_ns":1700000000000000001,"since_realtime":"2023-11-14T22:13:20.000000001Z","a":[{"until_realtime_ns":null,"until_realtime":null}],"text":"_realtime_ns\":5"}"#;
        assert_eq!(written, expected);
    }
}
