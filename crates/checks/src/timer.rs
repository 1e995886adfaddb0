//! A timer for what a loop does now and then.

use facts::unit::Nanos;
use probe::clock_now;

/// Is due after each interval, at the next look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    interval: Nanos,
    last: Nanos,
}

impl Timer {
    /// Is due at once.
    pub(super) fn new(interval: Nanos) -> Self {
        Self { interval, last: Nanos(0) }
    }

    /// Returns whether it is due. If it is, the next interval begins.
    pub(super) fn take(&mut self) -> bool {
        let is_due = self.left().0 == 0;
        if is_due {
            self.restart();
        }
        is_due
    }

    /// The next interval begins now.
    pub(super) fn restart(&mut self) {
        self.last = clock_now().boottime;
    }

    /// It is due at the next look.
    pub(super) fn hurry(&mut self) {
        self.last = Nanos(0);
    }

    /// How long it is until it is due.
    pub(super) fn left(&self) -> Nanos {
        (self.last + self.interval).saturating_sub(clock_now().boottime)
    }
}
