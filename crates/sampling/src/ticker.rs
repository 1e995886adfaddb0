//! Intervals without drift: deadlines are absolute, so that a late tick does not delay the next.

use std::time::Duration;

use facts::unit::Nanos;

/// Sleeps whole intervals of the boot clock, for deltas over a stated time.
#[derive(Debug)]
pub struct Ticker {
    interval: Nanos,
    last: Option<Nanos>,
}

impl Ticker {
    /// Starts now.
    pub fn start(interval: Duration) -> Self {
        Self { interval: Nanos::from(interval).max(Nanos(1)), last: None }
    }

    /// Sleeps a whole interval from the last sleep's end, or from now.
    pub fn wait(&mut self) {
        let now = probe::clock_now().boottime;
        // A tick that is more than an interval late starts a new series instead of catching up.
        let planned = self.last.map(|last| last + self.interval).filter(|planned| *planned > now);
        let deadline = planned.unwrap_or(now + self.interval);
        self.last = Some(deadline);
        probe::sleep_until(deadline);
    }
}
