//! The history as it was at the last tick, from one request to the next: opening it takes longer than most answers.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use facts::task::rounds::Scope;
use store::StoreError;
use tokio::sync::watch;

use history::past::{Past, PastAtRest};

/// An open history keeps the log of its database from being reused, so that one does not stay open longer, however rare ticks are.
const MAX_OPEN: Duration = Duration::from_secs(2);

/// One that rests costs memory and descriptors, and is kept for so long after the last request.
const MAX_AT_REST: Duration = Duration::from_secs(30);

/// Memory is given back when there is a pause, and not more often.
const BETWEEN_TRIMS: Duration = Duration::from_secs(10);

/// The history that no request needs now.
#[derive(Debug)]
pub(super) struct KeptPast {
    kept: Mutex<Option<Kept>>,
    /// The number of the last tick.
    ticks: watch::Receiver<u64>,
}

#[derive(Debug)]
enum Kept {
    /// As of a tick.
    Open(u64, Box<Past>),
    AtRest(Instant, Box<PastAtRest>),
}

impl Kept {
    /// The history as of this tick; `None` if it has to be opened anew.
    fn into_past(self, tick: u64) -> Option<Past> {
        match self {
            Self::Open(known, past) if known == tick => Some(*past),
            Self::Open(_, past) => past.rest().ok()?.go_on().ok(),
            Self::AtRest(_, past) => past.go_on().ok(),
        }
    }

    fn is_newer_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Open(one, _), Self::Open(other, _)) => one > other,
            (Self::AtRest(one, _), Self::AtRest(other, _)) => one > other,
            (one, _) => matches!(one, Self::Open(..)),
        }
    }
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
        let past = match self.take().and_then(|kept| kept.into_past(tick)) {
            Some(past) => past,
            None => Past::open(path)?,
        };
        let done = work(&past);
        if *self.ticks.borrow() == tick {
            self.keep(Kept::Open(tick, Box::new(past)));
        } else if let Ok(past) = past.rest() {
            self.keep(Kept::AtRest(Instant::now(), Box::new(past)));
        }
        Ok(done)
    }

    /// Returns a receiver that is notified of each tick.
    pub(super) fn ticks(&self) -> watch::Receiver<u64> {
        self.ticks.clone()
    }

    /// Lets the history rest as soon as there is a newer tick, closes it when nothing was asked for long, and gives back the memory that
    /// answers took. Ends with the ticks.
    pub(super) async fn drop_old(&self) {
        let mut ticks = self.ticks.clone();
        let (mut was_used, mut trimmed) = (false, Instant::now());
        loop {
            let is_over = match tokio::time::timeout(MAX_OPEN, ticks.changed()).await {
                Ok(Err(_)) => return,
                Ok(Ok(())) => false,
                Err(_) => true,
            };
            let is_used = self.age(is_over);
            was_used |= is_used;
            if was_used && !is_used && trimmed.elapsed() >= BETWEEN_TRIMS {
                probe::heap::give_memory_back();
                (was_used, trimmed) = (false, Instant::now());
            }
        }
    }

    /// Lets the history rest if it is as of an older tick, or if its time `is_over`. Closes one that has rested for long. Returns whether
    /// memory became free.
    fn age(&self, is_over: bool) -> bool {
        let tick = *self.ticks.borrow();
        let Ok(mut kept) = self.kept.lock() else { return false };
        let (aged, is_used) = match kept.take() {
            // A request was quicker than this.
            Some(Kept::Open(known, past)) if known == tick && !is_over => {
                (Some(Kept::Open(known, past)), true)
            }
            Some(Kept::Open(_, past)) => {
                (past.rest().ok().map(|past| Kept::AtRest(Instant::now(), Box::new(past))), true)
            }
            Some(Kept::AtRest(since, past)) if since.elapsed() < MAX_AT_REST => {
                (Some(Kept::AtRest(since, past)), false)
            }
            closed => (None, closed.is_some()),
        };
        *kept = aged;
        is_used
    }

    fn take(&self) -> Option<Kept> {
        self.kept.lock().ok()?.take()
    }

    /// Keeps one, unless another request kept a newer one meanwhile.
    fn keep(&self, one: Kept) {
        let dropped = match self.kept.lock() {
            Ok(kept) if kept.as_ref().is_some_and(|known| known.is_newer_than(&one)) => Some(one),
            Ok(mut kept) => kept.replace(one),
            Err(_) => Some(one),
        };
        // The lock is released by now: no request waits until the other one is closed.
        drop(dropped);
    }
}
