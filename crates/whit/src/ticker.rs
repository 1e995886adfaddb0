//! Whole intervals without drift: deadlines are absolute, so that a late tick is not the next one's burden.

use std::time::Duration;

use facts::unit::Nanos;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// Sleeps whole intervals, for differences over a stated time.
#[derive(Debug)]
pub(crate) struct Ticker {
    interval: Nanos,
    last: Option<Nanos>,
    /// System calls made.
    pub(crate) calls: u64,
}

impl Ticker {
    /// With this interval; the first tick is now.
    pub(crate) fn start(interval: Duration) -> Self {
        Self {
            interval: Nanos(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1)),
            last: None,
            calls: 0,
        }
    }

    /// Sleeps a whole interval from the last sleep's end, or from now.
    pub(crate) fn wait(&mut self) {
        let now = probe::clock_now().boottime;
        // One that is more than an interval late starts anew instead of hurrying.
        let planned = self.last.map(|last| last + self.interval).filter(|planned| *planned > now);
        let deadline = planned.unwrap_or(now + self.interval);
        self.last = Some(deadline);
        self.sleep_until(deadline);
    }

    fn sleep_until(&mut self, until: Nanos) {
        let deadline = Timespec {
            tv_sec: (until.0 / Nanos::SECOND.0) as i64,
            tv_nsec: (until.0 % Nanos::SECOND.0) as _,
        };
        loop {
            self.calls += 1;
            match clock_nanosleep_absolute(ClockId::Boottime, &deadline) {
                Ok(()) => return,
                Err(Errno::INTR) => {}
                // A sandbox may refuse this clock; it must not become a loop without sleep.
                Err(_) => {
                    let rest = until.saturating_sub(probe::clock_now().boottime);
                    return std::thread::sleep(Duration::from_nanos(rest.0));
                }
            }
        }
    }
}
