//! `whit run`: a command, its tree, its lock, its limits, its account.

mod account;
pub(crate) mod arguments;
mod comparison;
mod earlier;
mod family;
mod json;
mod listen;
mod lock;
pub(crate) mod options;
mod render;
mod report;
mod signals;
pub(crate) mod supervise;

pub(crate) use listen::listen;

use std::process::ExitCode;

use probe::signals::Signals;

use crate::failure::Failure;
use options::RunOptions;
use report::Report;

/// Runs the command, as often as requested, and reports where its time went. The exit status is the command's.
pub(crate) fn run(options: &RunOptions) -> Result<ExitCode, Failure> {
    let lock = options.lock.as_ref().map(|lock| lock::take(lock, options.is_quiet)).transpose()?;
    // Another run's report is left alone until this one has the lock and something to say.
    let mut report = Report::create(options)?;
    lock.iter().for_each(|lock| report.lock_waited(lock.waited));
    let mut written = Ok(());
    let mut code = 0;
    // From before the first run until after the last: a signal between two of them is none to be lost.
    let signals = Signals::open(&signals::taken()).map_err(Failure::of_system)?;
    let repeat = options.repeat.max(1);
    for place in 1..=repeat {
        let kept = lock.as_ref().filter(|_| probe::spawn::KEEPS_DESCRIPTORS).map(lock::Held::as_fd);
        let supervised = supervise::supervise(options, kept)?;
        if supervised.outcome.code() != 0 {
            code = supervised.outcome.code();
        }
        written = written.and(report.add(&supervised));
        let between = std::iter::from_fn(|| signals.next()).find(|signal| signals::ends(*signal));
        if let Some(signal) = supervised.stopped_by.or(between).filter(|_| place < repeat) {
            // The command may have ended well all the same; but not as often as it was to.
            code = if code == 0 { 128 + signal.number() as u8 } else { code };
            break;
        }
    }
    // The lock is for the command, not for the report.
    drop(lock);
    if let Err(failure) = written.and(report.finish()) {
        // The command's status counts, but where it was good.
        let reported = failure.report();
        return Ok(if code == 0 { reported } else { ExitCode::from(code) });
    }
    Ok(ExitCode::from(code))
}
