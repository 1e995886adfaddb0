//! JSON documents: what each begins with, and then its own fields. docs/schema holds a schema of each.

use std::sync::OnceLock;

use facts::sample::Sample;
use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use probe::{Probe, Request, Roots};
use serde::Serialize;

use crate::failure::Failure;

/// What documents are about: which of them a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DocumentKind {
    Free,
    Delays,
    Top,
    Run,
    Age,
    AgeNumber,
    AgeFile,
    AgeDeletion,
    AgeVerdict,
    AgeCost,
    #[cfg(feature = "traffic")]
    Sink,
    #[cfg(feature = "traffic")]
    SinkRequest,
    #[cfg(feature = "traffic")]
    Send,
    #[cfg(feature = "bench")]
    Bench,
    #[cfg(feature = "bench")]
    BenchList,
    Doctor,
    #[cfg(feature = "agent")]
    History,
    #[cfg(feature = "agent")]
    HistorySeries,
    #[cfg(feature = "agent")]
    Query,
    #[cfg(feature = "agent")]
    Why,
    #[cfg(feature = "agent")]
    Alerts,
    #[cfg(feature = "agent")]
    Checks,
    #[cfg(feature = "feeds")]
    Feeds,
    #[cfg(feature = "agent")]
    Marks,
    Metrics,
    Selftest,
}

/// Makes documents of one machine.
#[derive(Debug)]
pub(crate) struct Documents {
    roots: Roots,
    /// Read for the first document.
    boot_id: OnceLock<Option<String>>,
}

#[derive(Serialize)]
struct Document<'a, T> {
    document: DocumentKind,
    realtime_ns: u64,
    boot_id: Option<&'a str>,
    #[serde(flatten)]
    body: &'a T,
}

impl Documents {
    /// Of the machine at these roots.
    pub(crate) fn of(roots: &Roots) -> Self {
        Self { roots: roots.clone(), boot_id: OnceLock::new() }
    }

    /// Of the machine on which whit runs.
    pub(crate) fn of_live() -> Self {
        Self::of(&Roots::live())
    }

    /// Appends one, in a line; `realtime` is when its figures were read, since 1970.
    pub(crate) fn push(
        &self,
        kind: DocumentKind,
        realtime: Nanos,
        body: &impl Serialize,
        out: &mut String,
    ) -> Result<(), Failure> {
        let boot_id = self.boot_id.get_or_init(|| probe::boot_id(&self.roots)).as_deref();
        let document = Document { document: kind, realtime_ns: realtime.0, boot_id, body };
        out.push_str(&serde_json::to_string(&document).map_err(Failure::internal)?);
        out.push('\n');
        Ok(())
    }
}

/// The time of day at a machine: now, or when it was captured.
pub(crate) fn realtime(roots: &Roots) -> Result<Nanos, Failure> {
    if !roots.is_captured() {
        return Ok(probe::clock_now().realtime);
    }
    let wanted = Wanted::from([Source::Uptime]);
    let mut sample = Sample::default();
    Probe::open(roots, &Request { wanted, ..Request::default() })?.sample(&mut sample);
    Ok(sample.clock.realtime)
}
