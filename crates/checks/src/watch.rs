//! Does the checks, in a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver as Inbox, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use probe::background_job::Notifier;

use super::definition::CheckOptions;
use super::registry::SharedChecks;
use super::runner::PrivilegedRunner;
use super::watcher::Watcher;
use service::{Level, Log};

/// After so long a ledger that could not be opened is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// The thread, as long as this is kept.
#[derive(Debug)]
pub struct CheckWatch {
    changes: Sender<Option<CheckOptions>>,
    wishes: Notifier,
}

impl CheckWatch {
    /// Begins. The directory is one that this process has locked.
    pub fn start(
        options: CheckOptions,
        data: PathBuf,
        registry: SharedChecks,
        runner: Option<PrivilegedRunner>,
    ) -> std::io::Result<Self> {
        let (changes, inbox) = channel();
        let wishes = Notifier::new()?;
        let woken = wishes.clone();
        std::thread::Builder::new().name("checks".to_owned()).spawn(move || {
            let mut log = Log::open();
            let Some(mut watcher) = open(options, &data, &registry, &inbox, &woken, &mut log) else { return };
            if let Some(runner) = runner {
                watcher.set_privileged(runner);
            }
            if let Err(error) = watcher.run(&inbox, &woken, &mut log) {
                log.write(Level::Warning, &format!("checks: {error}; none are done until a restart"));
            }
        })?;
        Ok(Self { changes, wishes })
    }

    /// Goes on with other checks; `None`: with none.
    pub fn reconfigure(&self, options: Option<CheckOptions>) {
        // The thread ends with this process alone.
        let _ = self.changes.send(options);
        self.wishes.notify();
    }
}

/// Opens what is needed, as often as it takes: another process may hold a lock, or the disk be full. `None` if this process ends first.
fn open(
    mut options: CheckOptions,
    data: &Path,
    registry: &SharedChecks,
    inbox: &Inbox<Option<CheckOptions>>,
    woken: &Notifier,
    log: &mut Log,
) -> Option<Watcher> {
    loop {
        match Watcher::open(options.clone(), data.to_owned(), registry.clone(), woken, log) {
            Ok(watcher) => {
                log.fault("checks", None);
                return Some(watcher);
            }
            Err(error) => {
                let message =
                    format!("{}: {error}; no checks are done until it can be written", data.display());
                log.fault("checks", Some(message));
            }
        }
        match inbox.recv_timeout(AGAIN) {
            Ok(new) => options = new.unwrap_or_else(|| options.without_checks()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}
