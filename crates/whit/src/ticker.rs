//! Whole intervals without drift: deadlines are absolute, so that a late tick is not the next one's burden.

use std::time::Duration;

use facts::unit::Nanos;

/// Sleeps whole intervals, for differences over a stated time.
#[derive(Debug)]
pub(crate) struct Ticker {
    interval: Nanos,
    last: Option<Nanos>,
}

impl Ticker {
    /// With this interval; the first tick is now.
    pub(crate) fn start(interval: Duration) -> Self {
        Self { interval: Nanos::from(interval).max(Nanos(1)), last: None }
    }

    /// Sleeps a whole interval from the last sleep's end, or from now.
    pub(crate) fn wait(&mut self) {
        let now = probe::clock_now().boottime;
        // One that is more than an interval late starts anew instead of hurrying.
        let planned = self.last.map(|last| last + self.interval).filter(|planned| *planned > now);
        let deadline = planned.unwrap_or(now + self.interval);
        self.last = Some(deadline);
        probe::sleep_until(deadline);
    }
}
