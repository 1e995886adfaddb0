//! One run of a check, outside the schedule.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use facts::unit::Nanos;
use http_client::KeptClients;
use probe::wait::{Waiter, Watch};

use super::definition::{Check, CheckWay};
use super::runner::{Report, RunCost, Runner};
use super::status::Finding;
use super::verdict::verdict;

/// Does a check once, and waits for what it finds; `runner` is the command of [`CheckOptions`](super::CheckOptions), `history` that of an
/// agent.
///
/// # Errors
/// If it has no plugin, or plugins cannot be run.
pub fn try_check(check: &Check, runner: &[OsString], history: &Path) -> io::Result<(Finding, RunCost)> {
    let plugin = match &check.way {
        CheckWay::Plugin(plugin) => plugin,
        CheckWay::Native(native) => {
            return Ok(native.run(check.timeout, history, &KeptClients::default()));
        }
        CheckWay::Passive => {
            return Err(io::Error::other("others submit its results: there is nothing to run"));
        }
    };
    let mut waiter = Waiter::open(&[])?;
    let mut runner = Runner::start(runner)?;
    waiter.watch(0, Watch::Readable(runner.as_fd()))?;
    runner.order(&plugin.order(1, check.timeout));
    let mut found: Option<Report> = None;
    let mut is_gone = false;
    while !is_gone {
        runner.exchange(|report| {
            is_gone |= report.is_gone;
            found = found.take().or(Some(report));
        })?;
        if !is_gone {
            waiter.wait(Some(Nanos(1_000_000_000)), &mut Vec::new())?;
        }
    }
    let report = found.ok_or(io::ErrorKind::UnexpectedEof)?;
    let at_ms = jiff::Timestamp::now().as_millisecond();
    let finding = verdict(&report, check.timeout.as_secs_f64(), check.timeout_state, at_ms);
    Ok((finding, report.cost))
}
