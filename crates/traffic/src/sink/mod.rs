//! `whit sink`: takes what any number of clients send, and counts it.

pub(crate) mod accounts;
pub(crate) mod answer;
mod client;
mod datagrams;
pub(crate) mod fault;
pub(crate) mod http;
mod live;
pub(crate) mod log;
pub(crate) mod options;
pub(crate) mod replies;
mod request;
mod shared;
mod worker;

use std::process::ExitCode;
use std::sync::Arc;

use self::log::Log;
use self::options::SinkOptions;
use self::shared::Shared;
use self::worker::{Done, Worker};
use super::address::Address;
use super::event_loop::{EventLoop, Stop};
use super::waits;
use crate::render::SinkReport;
use command::document::{DocumentKind, Documents};
use command::failure::{Failure, write_stderr_if_ready};
use command::output::Output;
use command::paths::identity_of;

/// Listens until it is asked to end, then reports.
pub(crate) fn run(options: &SinkOptions) -> Result<ExitCode, Failure> {
    probe::raise_descriptor_limit();
    let at = |error| Failure::new(format!("{}: {error}", options.address));
    let stop = Arc::new(Stop::default());
    let shared = Shared::default();
    // A path can be bound once: other threads would have nothing to do.
    let threads = if matches!(options.address, Address::Unix(_)) { 1 } else { options.threads };
    let is_shared = threads > 1;
    let own_loop = EventLoop::new(Arc::clone(&stop), true).map_err(Failure::of_system)?;
    if is_shared {
        // Threads share a port, and would share it with another program that does so.
        drop(options.address.listen(false).map_err(at)?);
    }
    let socket = options.address.listen(is_shared).map_err(at)?;
    // Of port 0 the kernel makes another: the same for all threads.
    let address = options.address.bound(&socket).map_err(at)?;
    let mut workers = Vec::new();
    for _ in 1..threads {
        let event_loop = EventLoop::new(Arc::clone(&stop), false).map_err(Failure::of_system)?;
        let socket = address.listen(is_shared).map_err(at)?;
        workers.push(Worker::new(event_loop, socket, options, &shared).map_err(Failure::of_system)?);
    }
    let made = match &options.address {
        Address::Unix(path) => identity_of(path).ok(),
        _ => None,
    };
    let mut own = Worker::new(own_loop, socket, options, &shared).map_err(Failure::of_system)?;
    write_stderr_if_ready(&format!("whit: listening at {address}\n"));
    let (done, waits) = std::thread::scope(|scope| {
        let others: Vec<_> =
            workers.into_iter().map(|mut worker| scope.spawn(move || worker.run(false))).collect();
        let mut done = own.run(options.is_live);
        let waits = waits::own();
        for other in others {
            // A worker does not panic; if one did, the counts of the others are reported.
            if let Ok(other) = other.join() {
                done.accounts.merge(other.accounts);
                done.dropped += other.dropped;
                done.failure = done.failure.or(other.failure);
            }
        }
        (done, waits)
    });
    // From now on signals have their default actions: the report may never be read.
    drop(own);
    let Done { mut accounts, dropped, failure } = done;
    if let Address::Unix(path) = &options.address {
        // Another program may have put its own socket there meanwhile.
        if made.is_some() && identity_of(path).ok() == made {
            let _ = std::fs::remove_file(path);
        }
    }
    accounts.listed.sort_by_key(|account| account.first);
    let report = SinkReport::new(accounts, dropped, waits.as_ref(), options.has_requests());
    let mut text = report.text();
    if options.is_json {
        text.clear();
        let realtime = probe::clock_now().realtime;
        Documents::of_live().push(DocumentKind::Sink, realtime, &report.json(), &mut text)?;
    }
    // Requests that were answered at the end, before the report.
    options.log().into_iter().for_each(Log::flush);
    Output::stdout().write(text.as_bytes())?;
    let is_log_whole = options.log().is_none_or(|log| !log.has_failed());
    match failure {
        Some(error) => Err(at(error)),
        None if is_log_whole => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    }
}
