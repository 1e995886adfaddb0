//! The loop: a tick at each whole interval, until a signal.

use std::fs;
use std::io;
use std::path::Path;

use facts::unit::Nanos;
use probe::clock_now;
use probe::lock::{LockFile, Taken};
use probe::signals::Signal;
use probe::wait::Waiter;

use crate::log::{Level, Log};
use crate::options::{AgentError, AgentOptions};
use crate::recorder::Recorder;
use crate::service::Service;

/// Records until a signal ends it. `reload` reads the configuration again, on SIGHUP; its error is what is wrong with it.
///
/// # Errors
/// If it cannot start, or the history cannot be closed.
pub fn run(
    options: &AgentOptions,
    mut reload: impl FnMut() -> Result<AgentOptions, String>,
) -> Result<(), AgentError> {
    let _lock = lock(&options.data)?;
    let mut log = Log::open();
    let mut service = Service::new();
    let mut waiter = Waiter::open(&[Signal::Interrupt, Signal::Terminate, Signal::Hangup])
        .map_err(|error| AgentError::System("signals".to_owned(), error))?;
    let mut recorder = Recorder::open(options, &mut log)?;
    let mut schedule = Schedule::new(options.interval.into());
    let mut ticks = 0;
    loop {
        let (lateness, missed_ticks) = schedule.start();
        recorder.tick(lateness, missed_ticks, &mut log);
        match ticks {
            0 => service.ready(),
            _ => service.tick(),
        }
        if let Some(status) = recorder.take_status() {
            log.write(Level::Info, &status);
            service.status(&status);
        }
        ticks += 1;
        if options.count.is_some_and(|count| ticks >= count) {
            break;
        }
        loop {
            match wait(&mut waiter, schedule.deadline)? {
                Event::Deadline => break,
                Event::End => {
                    service.stopping();
                    return recorder.close();
                }
                Event::Reload => {}
            }
            service.reloading();
            match reload() {
                Ok(new) => {
                    schedule.set_interval(new.interval.into());
                    recorder.reconfigure(&new, &mut log);
                    log.write(Level::Info, "the configuration was read again");
                }
                Err(fault) => {
                    log.write(Level::Warning, &format!("the old configuration stays: {fault}"));
                }
            }
            service.ready();
        }
    }
    service.stopping();
    recorder.close()
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

    /// Another interval after the next tick.
    fn set_interval(&mut self, interval: Nanos) {
        self.interval = interval;
    }

    /// A tick starts. Returns how late it is, and how many were missed before it; sets the next deadline.
    fn start(&mut self) -> (Nanos, u64) {
        let late = clock_now().boottime.saturating_sub(self.deadline).0;
        let missed = late / self.interval.0.max(1);
        self.deadline += Nanos(self.interval.0 * (missed + 1));
        (Nanos(late % self.interval.0.max(1)), missed)
    }
}

/// What ends a wait.
enum Event {
    Deadline,
    Reload,
    End,
}

/// Waits for a time on the boot clock, or a signal.
fn wait(waiter: &mut Waiter, deadline: Nanos) -> Result<Event, AgentError> {
    let mut ready = Vec::new();
    loop {
        match waiter.next_signal() {
            Some(received) if received.signal == Signal::Hangup => return Ok(Event::Reload),
            Some(_) => return Ok(Event::End),
            None => {}
        }
        let timeout = deadline.saturating_sub(clock_now().boottime);
        if timeout == Nanos(0) {
            return Ok(Event::Deadline);
        }
        waiter
            .wait(Some(timeout), &mut ready)
            .map_err(|error| AgentError::System("waiting".to_owned(), error))?;
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
