//! At most so many deletions a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A limit for all threads together.
#[derive(Debug)]
pub(super) struct Pace {
    interval_ns: u64,
    next_ns: AtomicU64,
}

impl Pace {
    pub(super) fn new(per_second: f64) -> Self {
        Self { interval_ns: (1e9 / per_second) as u64, next_ns: AtomicU64::new(0) }
    }

    /// Sleeps until it is this caller's turn.
    pub(super) fn wait(&self) {
        let now = probe::monotonic_now().0;
        let claim = |next: u64| Some(next.max(now) + self.interval_ns);
        let turn = self.next_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).unwrap_or(now);
        std::thread::sleep(Duration::from_nanos(turn.saturating_sub(now)));
    }
}
