//! `whit send`: puts load on a server, and measures how it copes.

pub(crate) mod condition;
pub(crate) mod connection;
pub(crate) mod options;
pub(crate) mod request;
mod response;
pub(crate) mod sent;
pub(crate) mod server;
mod stream;
mod worker;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use self::connection::Answer;
use self::options::SendOptions;
use self::worker::Worker;
use super::event_loop::{EventLoop, Stop};
use super::waits;
use crate::render::SendReport;
use command::document::{DocumentKind, Documents};
use command::failure::{Failure, write_stderr};
use command::output::Output;

/// Sends, then reports. The exit status is 1 if a connection failed.
pub(crate) fn run(options: &SendOptions) -> Result<ExitCode, Failure> {
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
    stop.set_others(workers.len());
    let (sent, waits) = std::thread::scope(|scope| -> Result<_, Failure> {
        let others: Vec<_> = workers.into_iter().map(|worker| scope.spawn(move || worker.run())).collect();
        let sent = own.run_here(options.is_live).and_then(|sent| own.wait_for_others().map(|()| sent));
        if sent.is_err() {
            // A failure of one worker ends all of them.
            stop.request();
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
    // From now on signals have their default actions: the report may never be read.
    drop(own);
    let failure = sent.failure.clone().filter(|_| sent.failed > 0);
    if let Some(failure) = failure {
        let of = format!("{} of {} connections", sent.failed, sent.connections);
        Failure::new(format!("{}: {of} failed: {failure}", options.address)).report();
    }
    if sent.failed_requests > 0 && sent.failed == 0 {
        let why = sent.failure.clone().unwrap_or_default();
        Failure::new(format!(
            "{}: {} requests failed; the first: {why}",
            options.address, sent.failed_requests
        ))
        .report();
    }
    let has_no_answer = options.answer != Answer::None && sent.packets > 0 && sent.latency_ns.is_empty();
    let has_failed = sent.failed > 0 || sent.failed_requests > 0 || has_no_answer;
    let report = SendReport::new(sent, options, waits.as_ref());
    let violations = report.violations(&options.failures);
    if let Some(slower) = options.rate.and_then(|wanted| report.shortfall(wanted)) {
        write_stderr(&format!("whit: {slower}\n"));
    }
    for violation in &violations {
        write_stderr(&format!("whit: --fail-if {violation}\n"));
    }
    let code = u8::from(has_failed || !violations.is_empty());
    let mut text = report.text();
    if options.is_json {
        text.clear();
        let realtime = probe::clock_now().realtime;
        Documents::of_live().push(DocumentKind::Send, realtime, &report.json(), &mut text)?;
    }
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::from(code))
}
