//! The loop: sample, record, wait for the next whole interval.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use facts::source::Wanted;
use facts::unit::Nanos;
use probe::lock::{LockFile, Taken};
use probe::signals::Signal;
use probe::wait::Waiter;
use probe::{Request, Roots, clock_now};
use sampling::Formula;
use sampling::machine::MachineSampler;
use store::{Store, StoreError, Tick};

use crate::machine_series::MachineSeries;
use crate::now_file::NowFile;

/// What is recorded, and where.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// A directory of its own: the history and the lock of its one agent.
    pub data: PathBuf,
    /// The last tick for scripts; `None`: nowhere.
    pub now: Option<PathBuf>,
    /// Between two ticks.
    pub interval: Duration,
    /// End after so many ticks.
    pub count: Option<u64>,
}

/// Why it cannot go on.
#[derive(Debug)]
pub enum AgentError {
    /// Of the data directory or the machine.
    System(String, io::Error),
    /// Another agent records there.
    Taken(PathBuf),
    /// Of the history.
    Store(PathBuf, StoreError),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(what, error) => write!(f, "{what}: {error}"),
            Self::Taken(path) => {
                write!(f, "{}: another agent records there; --data DIR names another place", path.display())
            }
            Self::Store(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for AgentError {}

/// The name of the history in the data directory.
pub const HISTORY: &str = "history.sqlite";

/// Records until a signal ends it.
///
/// # Errors
/// If it cannot begin, or the history cannot be written any more.
pub fn run(options: &AgentOptions) -> Result<(), AgentError> {
    let system = |what: String| move |error| AgentError::System(what, error);
    let directory = &options.data;
    fs::create_dir_all(directory).map_err(system(directory.display().to_string()))?;
    let lock_path = directory.join("lock");
    let mut lock = LockFile::open(&lock_path, false).map_err(system(lock_path.display().to_string()))?;
    if lock.try_take().map_err(system(lock_path.display().to_string()))? == Taken::No {
        return Err(AgentError::Taken(directory.clone()));
    }
    let path = directory.join(HISTORY);
    let failed = |error| AgentError::Store(path.clone(), error);
    let mut store = Store::open(&path).map_err(failed)?;
    let request = Request { wanted: Wanted::all(), ..Request::default() };
    let mut machine = MachineSampler::open(&Roots::live(), request, Formula::IfNeeded)
        .map_err(|error| AgentError::System("/proc".to_owned(), io::Error::other(error.to_string())))?;
    let boot_id = probe::boot_id(&Roots::live()).unwrap_or_default();
    let mut series = MachineSeries::default();
    let mut now_file = options
        .now
        .as_deref()
        .map(|path| NowFile::new(path).map_err(system(path.display().to_string())))
        .transpose()?;
    let signals = [Signal::Interrupt, Signal::Terminate, Signal::Hangup];
    let mut waiter = Waiter::open(&signals).map_err(system("signals".to_owned()))?;
    let interval = Nanos::from(options.interval);
    let mut deadline = clock_now().boottime;
    let mut left = options.count;
    let mut ready = Vec::new();
    let mut has_said_now = false;
    loop {
        machine.sample();
        let clock = machine.now().clock;
        let values = series.collect(machine.now(), &mut store).map_err(failed)?;
        let (realtime_ns, boottime_ns) = (clock.realtime.0.cast_signed(), clock.boottime.0.cast_signed());
        // Copied: series are numbered by the store that the tick is written to.
        let values = values.to_vec();
        store
            .append(&Tick { realtime_ns, boottime_ns, boot_id: &boot_id, values: &values })
            .map_err(failed)?;
        if let (Some(file), Some(path)) = (&mut now_file, &options.now) {
            // The history goes on without it.
            let written = file.write(series.named());
            if let (Err(error), false) = (&written, has_said_now) {
                eprintln!("whit: {}: {error}; scripts read an older tick", path.display());
            }
            has_said_now = written.is_err();
        }
        left = left.map(|left| left - 1);
        if left == Some(0) {
            return store.close().map_err(failed);
        }
        // Absolute, so that a late tick does not delay the next; one that is missed is a gap.
        let now = clock_now().boottime;
        while deadline <= now {
            deadline += interval;
        }
        loop {
            let timeout = deadline.saturating_sub(clock_now().boottime);
            if timeout == Nanos(0) {
                break;
            }
            waiter.wait(Some(timeout), &mut ready).map_err(system("waiting".to_owned()))?;
            while let Some(received) = waiter.next_signal() {
                if received.signal != Signal::Hangup {
                    return store.close().map_err(failed);
                }
            }
        }
    }
}
