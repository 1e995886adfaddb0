//! The counts of what was sent.

use std::collections::BTreeMap;

use facts::unit::Nanos;
use hdrhistogram::Histogram;

use command::failure::Failure;

/// Counts of what was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    pub(crate) connections: u64,
    /// Connections that ended before they should, and why the first did.
    pub(crate) failed: u64,
    pub(crate) failure: Option<String>,
    /// HTTP requests whose answer did not come whole.
    pub(crate) failed_requests: u64,
    /// Packets or requests that something in return was still waited for.
    pub(crate) unanswered: u64,
    /// The number of HTTP responses by status.
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) first: Option<Nanos>,
    pub(crate) last: Option<Nanos>,
    /// From when a packet should have gone out until it was taken or came back, in nanoseconds.
    pub(crate) latency_ns: Histogram<u64>,
}

/// Latencies are measured up to this, with three digits.
const MAX_NS: u64 = 600_000_000_000;
const DIGITS: u8 = 3;

/// Percentiles of latencies, with their names in text and JSON.
pub(crate) const PERCENTILES: [(f64, &str, &str); 4] =
    [(50.0, "p50", "p50_ns"), (90.0, "p90", "p90_ns"), (99.0, "p99", "p99_ns"), (99.9, "p99.9", "p99_9_ns")];

impl Sent {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self {
            bytes: 0,
            packets: 0,
            connections: 0,
            failed: 0,
            failure: None,
            failed_requests: 0,
            unanswered: 0,
            statuses: BTreeMap::new(),
            first: None,
            last: None,
            latency_ns: Histogram::new_with_bounds(1, MAX_NS, DIGITS).map_err(Failure::internal)?,
        })
    }

    /// Returns the number of HTTP requests that were answered.
    pub(crate) fn answers(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Returns how much went wrong: connections and requests that failed, what was not answered, and answers that say so.
    pub(crate) fn errors(&self) -> u64 {
        let refusals = self.statuses.range(400..).map(|(_, count)| count).sum::<u64>();
        self.failed + self.failed_requests + self.unanswered + refusals
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.connections += other.connections;
        self.failed += other.failed;
        self.failed_requests += other.failed_requests;
        self.unanswered += other.unanswered;
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.failure = self.failure.take().or(other.failure);
        self.first = Nanos::earlier(self.first, other.first);
        self.last = self.last.max(other.last);
        // Of one make: nothing of it is out of the other's bounds.
        let _ = self.latency_ns.add(other.latency_ns);
    }
}
