//! `whit run`: a command, its tree, its lock, its limits, its account.

mod account;
mod family;
mod listen;
mod lock;
mod report;
mod signals;
mod supervise;

pub(crate) use account::{Program, Tree, Waited};
pub(crate) use family::Survivor;
pub(crate) use listen::listen;
pub(crate) use supervise::{Outcome, Supervised, supervise};

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use probe::spawn::Limit;

use crate::failure::Failure;
use report::Report;

/// The options of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) command: Vec<OsString>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) is_quiet: bool,
    pub(crate) repeat: u64,
    pub(crate) lock: Option<LockOptions>,
    pub(crate) timeout: Option<Duration>,
    /// From the first signal to the one that cannot be caught.
    pub(crate) kill_after: Duration,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) limits: Vec<(Limit, u64)>,
    /// As for a user without privileges.
    pub(crate) is_procfs_only: bool,
}

/// A lock to be held while the command runs.
#[derive(Clone, Debug)]
pub(crate) struct LockOptions {
    pub(crate) path: PathBuf,
    pub(crate) is_shared: bool,
    /// None: without end.
    pub(crate) patience: Option<Duration>,
    pub(crate) conflict_exit: u8,
    /// The command and what it starts hold it, too.
    pub(crate) is_inherited: bool,
}

/// Runs it, as often as asked for, and tells where its time went. Its exit status is the command's.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let lock = options.lock.as_ref().map(lock::take).transpose()?;
    // Another run's report is left alone until this one has the lock and something to say.
    let mut report = Report::create(options)?;
    lock.iter().for_each(|lock| report.lock_waited(lock.waited));
    let mut told = Ok(());
    let mut code = 0;
    for _ in 0..options.repeat.max(1) {
        let kept = lock.as_ref().filter(|_| probe::spawn::KEEPS_DESCRIPTORS).map(lock::Held::as_fd);
        let supervised = supervise::supervise(options, kept)?;
        if supervised.outcome.code() != 0 {
            code = supervised.outcome.code();
        }
        told = told.and(report.add(&supervised));
        if supervised.is_told_to_end {
            break;
        }
    }
    // The lock is for the command, not for what is told about it.
    drop(lock);
    if let Err(failure) = told.and(report.finish()) {
        // The command's status counts, but where it was good.
        let reported = failure.report();
        return Ok(if code == 0 { reported } else { ExitCode::from(code) });
    }
    Ok(ExitCode::from(code))
}
