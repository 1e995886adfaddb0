//! Threads that look: a server that does not answer holds up none but its own.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_client::KeptClients;
use probe::background_job::Notifier;

use super::kinds::Native;
use crate::runner::RunCost;
use crate::status::Finding;

/// They are made when the first check needs them.
const THREADS: usize = 16;
/// Checks that wait for one.
const MAX_WAITING: usize = 1000;
const STACK_BYTES: usize = 512 * 1024;

/// A check that is to be run.
struct Job {
    /// The name of its check.
    name: String,
    native: Native,
    timeout: Duration,
}

/// The result of a native check.
#[derive(Debug)]
pub(crate) struct NativeResult {
    /// The name of the check.
    pub(crate) name: String,
    pub(crate) finding: Finding,
    pub(crate) cost: RunCost,
}

/// The threads, and what they found.
#[derive(Debug)]
pub(crate) struct NativePool {
    history: PathBuf,
    notifier: Notifier,
    jobs: Option<SyncSender<Job>>,
    found: (Sender<NativeResult>, Receiver<NativeResult>),
}

impl NativePool {
    /// With the agent's history; the notifier is rung when something was found.
    pub(crate) fn new(history: PathBuf, notifier: Notifier) -> Self {
        Self { history, notifier, jobs: None, found: channel() }
    }

    /// Looks at something. Returns whether there is room for it.
    pub(crate) fn begin(&mut self, name: &str, native: &Native, timeout: Duration) -> bool {
        let jobs = self.jobs.take().unwrap_or_else(|| self.start());
        let job = Job { name: name.to_owned(), native: native.clone(), timeout };
        let sent = jobs.try_send(job);
        self.jobs = Some(jobs);
        !matches!(sent, Err(TrySendError::Full(_) | TrySendError::Disconnected(_)))
    }

    /// Takes the results since the last call.
    pub(crate) fn take(&self) -> Vec<NativeResult> {
        self.found.1.try_iter().collect()
    }

    fn start(&self) -> SyncSender<Job> {
        let (jobs, waiting) = sync_channel::<Job>(MAX_WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        let clients = Arc::new(KeptClients::default());
        for _ in 0..THREADS {
            let (waiting, found) = (Arc::clone(&waiting), self.found.0.clone());
            let (history, notifier, clients) =
                (self.history.clone(), self.notifier.clone(), Arc::clone(&clients));
            let builder = std::thread::Builder::new().name("check".to_owned()).stack_size(STACK_BYTES);
            // With fewer threads checks wait for longer.
            let _ = builder.spawn(move || {
                loop {
                    let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(Job { name, native, timeout }) = job else { return };
                    let (finding, cost) = native.run(timeout, &history, &clients);
                    if found.send(NativeResult { name, finding, cost }).is_err() {
                        return;
                    }
                    notifier.notify();
                }
            });
        }
        jobs
    }
}
