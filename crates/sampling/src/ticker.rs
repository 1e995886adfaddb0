//! Intervals without drift: deadlines are absolute, so that a tick that is a little late does not delay the next.

use std::time::Duration;

use facts::unit::Nanos;

/// Sleeps whole intervals of the boot clock, for deltas over a stated time.
#[derive(Debug)]
pub struct Ticker {
    interval: Nanos,
    last: Option<Nanos>,
}

impl Ticker {
    /// Creates a ticker, whose first interval begins at the first wait.
    pub fn new(interval: Duration) -> Self {
        Self { interval: Nanos::from(interval).max(Nanos(1)), last: None }
    }

    /// Sleeps until an interval after the last deadline, or from now if that has passed.
    pub fn wait(&mut self) {
        let now = probe::clock_now().boottime;
        // What was missed is not made up for.
        let planned = self.last.map(|last| last + self.interval).filter(|planned| *planned > now);
        let deadline = planned.unwrap_or(now + self.interval);
        self.last = Some(deadline);
        probe::sleep_until(deadline);
    }
}
