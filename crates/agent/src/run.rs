//! The loop: a tick at each whole interval, until a signal.

use std::fs;
use std::io;
use std::path::Path;

use facts::unit::Nanos;
use probe::clock_now;
use probe::lock::{LockFile, Taken};
use probe::signals::Signal;
use probe::wait::Waiter;

use crate::log::Log;
use crate::options::{AgentError, AgentOptions};
use crate::recorder::Recorder;

/// Records until a signal ends it.
///
/// # Errors
/// If it cannot start, or the history cannot be closed.
pub fn run(options: &AgentOptions) -> Result<(), AgentError> {
    let _lock = lock(&options.data)?;
    let mut log = Log::open();
    let mut waiter = Waiter::open(&[Signal::Interrupt, Signal::Terminate, Signal::Hangup])
        .map_err(|error| AgentError::System("signals".to_owned(), error))?;
    let mut recorder = Recorder::open(options, &mut log)?;
    let mut schedule = Schedule::new(options.interval.into());
    let mut ticks = 0;
    loop {
        let (lateness, missed_ticks) = schedule.start();
        recorder.tick(lateness, missed_ticks, &mut log);
        ticks += 1;
        let is_last = options.count.is_some_and(|count| ticks >= count);
        if is_last || wait(&mut waiter, schedule.deadline)? {
            return recorder.close();
        }
    }
}

/// The absolute times of ticks, so that a late one does not delay the next.
#[derive(Debug)]
struct Schedule {
    interval: Nanos,
    deadline: Nanos,
}

impl Schedule {
    fn new(interval: Nanos) -> Self {
        Self { interval, deadline: clock_now().boottime }
    }

    /// A tick starts. Returns how late it is, and how many were missed before it; sets the next deadline.
    fn start(&mut self) -> (Nanos, u64) {
        let late = clock_now().boottime.saturating_sub(self.deadline).0;
        let missed = late / self.interval.0.max(1);
        self.deadline += Nanos(self.interval.0 * (missed + 1));
        (Nanos(late % self.interval.0.max(1)), missed)
    }
}

/// Waits for a time on the boot clock. Returns whether a signal ends the agent.
fn wait(waiter: &mut Waiter, deadline: Nanos) -> Result<bool, AgentError> {
    let mut ready = Vec::new();
    loop {
        let timeout = deadline.saturating_sub(clock_now().boottime);
        if timeout == Nanos(0) {
            return Ok(false);
        }
        waiter
            .wait(Some(timeout), &mut ready)
            .map_err(|error| AgentError::System("waiting".to_owned(), error))?;
        while let Some(received) = waiter.next_signal() {
            if received.signal != Signal::Hangup {
                return Ok(true);
            }
        }
    }
}

/// The lock of the one agent of a data directory, which is made if it is not there.
fn lock(directory: &Path) -> Result<LockFile, AgentError> {
    let system = |path: &Path, error: io::Error| AgentError::System(path.display().to_string(), error);
    fs::create_dir_all(directory).map_err(|error| system(directory, error))?;
    let path = directory.join("lock");
    let mut lock = LockFile::open(&path, false).map_err(|error| system(&path, error))?;
    match lock.try_take().map_err(|error| system(&path, error))? {
        Taken::No => Err(AgentError::Taken(directory.to_owned())),
        _ => Ok(lock),
    }
}
