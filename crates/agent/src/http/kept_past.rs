//! The history as it was at the last tick, from one request to the next: opening it takes longer than most answers.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use facts::task::rounds::Scope;
use store::StoreError;
use tokio::sync::watch;

use history::past::Past;

/// An open history keeps the log of its database from being reused, so that one is not kept longer, however rare ticks are.
const MAX_KEPT: Duration = Duration::from_secs(2);

/// Memory is given back when there is a pause, and not more often.
const BETWEEN_TRIMS: Duration = Duration::from_secs(10);

/// One history that no request needs now.
#[derive(Debug)]
pub(super) struct KeptPast {
    /// As of which tick it is.
    kept: Mutex<Option<(u64, Past)>>,
    /// The number of the last tick.
    ticks: watch::Receiver<u64>,
}

impl KeptPast {
    pub(super) fn new(ticks: watch::Receiver<u64>) -> Self {
        Self { kept: Mutex::new(None), ticks }
    }

    /// Does something with the history as of the last tick.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(super) fn with<T>(
        &self,
        path: &Path,
        scope: Scope,
        work: impl FnOnce(&Past) -> T,
    ) -> Result<T, StoreError> {
        if scope != Scope::All {
            return Ok(work(&Past::open(path)?.seen_by(scope)));
        }
        let tick = *self.ticks.borrow();
        let kept = self.take().filter(|(known, _)| *known == tick);
        let past = match kept {
            Some((_, past)) => past,
            None => Past::open(path)?,
        };
        let done = work(&past);
        if *self.ticks.borrow() == tick
            && let Ok(mut kept) = self.kept.lock()
        {
            *kept = Some((tick, past));
        }
        Ok(done)
    }

    /// Returns a receiver that is notified of each tick.
    pub(super) fn ticks(&self) -> watch::Receiver<u64> {
        self.ticks.clone()
    }

    /// Closes each history that is kept as soon as there is a newer tick, and gives back the memory that answers took. Ends with the
    /// ticks.
    pub(super) async fn drop_old(&self) {
        let mut ticks = self.ticks.clone();
        let (mut was_used, mut trimmed) = (false, Instant::now());
        while !matches!(tokio::time::timeout(MAX_KEPT, ticks.changed()).await, Ok(Err(_))) {
            let is_used = self.take().is_some();
            was_used |= is_used;
            if was_used && !is_used && trimmed.elapsed() >= BETWEEN_TRIMS {
                probe::heap::give_memory_back();
                (was_used, trimmed) = (false, Instant::now());
            }
        }
    }

    fn take(&self) -> Option<(u64, Past)> {
        self.kept.lock().ok()?.take()
    }
}
