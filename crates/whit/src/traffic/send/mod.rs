//! `whit send`: loads a server, and tells how it bore it.

mod connection;
mod worker;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use facts::unit::Nanos;
use hdrhistogram::Histogram;

use self::worker::Worker;
use super::event_loop::{EventLoop, Stop};
use super::{Address, waits};
use crate::failure::Failure;
use crate::output::Output;
use crate::show::traffic::SendReport;

/// The options of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) address: Address,
    /// Packets of all connections together.
    pub(crate) count: Option<u64>,
    /// Of a packet.
    pub(crate) size: usize,
    /// Packets a second of all connections together.
    pub(crate) rate: Option<f64>,
    pub(crate) connections: usize,
    pub(crate) duration: Option<Duration>,
    /// How long a peer may take and return nothing before its connection is given up.
    pub(crate) patience: Duration,
    /// Each packet is waited for until it comes back.
    pub(crate) expects_echo: bool,
    pub(crate) threads: usize,
    pub(crate) is_live: bool,
    pub(crate) is_json: bool,
}

/// What was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    pub(crate) connections: u64,
    /// Connections that ended before they should, and why the first did.
    pub(crate) failed: u64,
    pub(crate) failure: Option<String>,
    pub(crate) first: Option<Nanos>,
    pub(crate) last: Option<Nanos>,
    /// From when a packet should have gone out until it was taken or came back, in nanoseconds.
    pub(crate) latency_ns: Histogram<u64>,
}

/// Latencies are told up to this, to three digits.
const LONGEST_NS: u64 = 600_000_000_000;
const DIGITS: u8 = 3;

impl Sent {
    fn new() -> Result<Self, Failure> {
        Ok(Self {
            bytes: 0,
            packets: 0,
            connections: 0,
            failed: 0,
            failure: None,
            first: None,
            last: None,
            latency_ns: Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).map_err(Failure::internal)?,
        })
    }

    fn merge(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.connections += other.connections;
        self.failed += other.failed;
        self.failure = self.failure.take().or(other.failure);
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
        // Of one make: nothing of it is out of the other's bounds.
        let _ = self.latency_ns.add(other.latency_ns);
    }
}

/// Sends, then tells. The exit status is 1 where a connection failed.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    probe::raise_descriptor_limit();
    let stop = Arc::new(Stop::default());
    let packets = AtomicU64::new(0);
    let threads = options.threads.min(options.connections).max(1);
    let mut workers = Vec::new();
    for thread in 0..threads {
        // The first is this thread.
        let event_loop = EventLoop::new(Arc::clone(&stop), thread == 0).map_err(Failure::of_system)?;
        workers.push(Worker::new(event_loop, options, thread..options.connections, threads, &packets)?);
    }
    let mut own = workers.remove(0);
    stop.expect(workers.len());
    let (sent, waits) = std::thread::scope(|scope| -> Result<_, Failure> {
        let others: Vec<_> = workers.into_iter().map(|worker| scope.spawn(move || worker.run())).collect();
        let sent = own.run_here(options.is_live).and_then(|sent| own.wait_for_others().map(|()| sent));
        if sent.is_err() {
            // Whoever fails ends all: nobody would tell the others.
            stop.tell();
        }
        let mut sent = sent?;
        let waits = waits::own();
        for other in others {
            if let Ok(other) = other.join() {
                sent.merge(other?);
            }
        }
        Ok((sent, waits))
    })?;
    // From now on signals do what they did before: nobody may ever read the report.
    drop(own);
    let failure = sent.failure.clone().filter(|_| sent.failed > 0);
    if let Some(failure) = failure {
        let of = format!("{} of {} connections", sent.failed, sent.connections);
        Failure::new(format!("{}: {of} failed: {failure}", options.address)).report();
    }
    let code = u8::from(sent.failed > 0);
    let report = SendReport::new(sent, options.size as u64, waits.as_ref());
    let text = if options.is_json { report.json() } else { report.text() };
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::from(code))
}
