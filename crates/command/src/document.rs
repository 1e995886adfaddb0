//! JSON documents: what each begins with, and then its own fields. docs/schema holds a schema of each.

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
        let document =
            Document { document: kind, realtime_ns: realtime.0, realtime: rfc3339(realtime), boot_id, body };
        out.push_str(&serde_json::to_string(&document).map_err(Failure::internal)?);
        out.push('\n');
        Ok(())
    }
}

/// Writes a time since 1970 as RFC 3339 has it, in UTC, to the nanosecond.
fn rfc3339(time: Nanos) -> String {
    let time = jiff::Timestamp::from_nanosecond(time.0.into()).unwrap_or_default();
    format!("{time:.9}")
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
