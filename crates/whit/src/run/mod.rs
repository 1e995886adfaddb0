//! `whit run`: a command, its tree, its lock, its limits, its account.

mod account;
pub(crate) mod arguments;
mod comparison;
mod earlier;
mod execs;
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

use clap::ArgMatches;
use probe::signals::Signals;

use command::failure::Failure;
use report::Report;

/// Runs the command, as often as requested, and reports where its time went. The exit status is the command's.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let options = &arguments::from_matches(matches)?;
    let lock = options.lock.as_ref().map(|lock| lock::take(lock, options.is_quiet)).transpose()?;
    // Another run's report is left alone until this one has the lock and something to say.
    let mut report = Report::create(options)?;
    lock.iter().for_each(|lock| report.lock_waited(lock.waited));
    let mut written = Ok(());
    let mut not_started = None;
    let mut code = 0;
    let repeat = options.repeat.max(1);
    let mut signals = taken_between(repeat)?;
    for place in 1..=repeat {
        let kept = lock.as_ref().filter(|_| probe::spawn::KEEPS_DESCRIPTORS).map(lock::Held::as_fd);
        let supervised = match supervise::supervise(options, kept) {
            // The runs before it have their report.
            Err(failure) if place > 1 => {
                not_started = Some(failure);
                break;
            }
            supervised => supervised?,
        };
        if supervised.outcome.code() != 0 {
            code = supervised.outcome.code();
        }
        let next = || signals.as_ref().and_then(Signals::next);
        let between = std::iter::from_fn(next).find(|signal| signals::ends(*signal));
        let stopped_by = supervised.stopped_by.or(between).filter(|_| place < repeat);
        if !options.is_quiet {
            // Who does not read the report must not keep a signal from ending this.
            signals.take().into_iter().for_each(Signals::release);
        }
        written = written.and(report.add(&supervised));
        if let Some(signal) = stopped_by {
            // The command may have ended well all the same; but not as often as it was to.
            code = if code == 0 { 128 + signal.number() as u8 } else { code };
            break;
        }
        if signals.is_none() {
            signals = taken_between(repeat - place)?;
        }
    }
    drop(signals);
    // The lock is for the command, not for the report.
    drop(lock);
    let reported = written.and(report.finish());
    if let Some(failure) = not_started {
        return Err(failure);
    }
    if let Err(failure) = reported {
        // The command's status counts, but where it was good.
        let reported = failure.report();
        return Ok(if code == 0 { reported } else { ExitCode::from(code) });
    }
    Ok(ExitCode::from(code))
}

/// From before a run until after the next: a signal between two of them is none to be lost. A last run needs none.
fn taken_between(runs: u64) -> Result<Option<Signals>, Failure> {
    let open = || Signals::open(&signals::taken()).map_err(Failure::of_system);
    (runs > 1).then(open).transpose()
}
