//! Whole intervals without drift: deadlines are absolute, so that a late tick is not the next one's burden.

use std::time::Duration;

use facts::unit::Nanos;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// Sleeps to whole intervals of the clock that people see, so that a clock in a bar turns when the minute does.
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

    /// Sleeps until the next multiple of the interval since 1970.
    ///
    /// The phase is taken from the real-time clock at each tick, the sleep is on the boot clock: setting the time
    /// cannot make it long, and after a suspend the deadline has passed, so that a stale line is drawn at once.
    pub(crate) fn wait(&mut self) {
        let now = probe::clock_now();
        self.sleep_until(now.boottime + time_to_next(now.realtime, self.interval));
    }

    /// Sleeps a whole interval from the last such sleep's end, or from now: for differences over a stated time.
    pub(crate) fn wait_full(&mut self) {
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

/// How far the two clocks may have run apart in an interval.
const AT_MOST_EARLY: Nanos = Nanos(50_000_000);

/// From `now` to the next multiple of `interval`. Just before one (the two clocks run a little apart) it is the one
/// after, or the tick would come twice.
fn time_to_next(now: Nanos, interval: Nanos) -> Nanos {
    let rest = interval.0 - now.0 % interval.0;
    let too_near = (interval.0 / 16).min(AT_MOST_EARLY.0);
    Nanos(if rest < too_near { rest + interval.0 } else { rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_tick_does_not_shift_the_next_and_an_early_one_does_not_double_it() {
        let to_next = |now| time_to_next(Nanos(now), Nanos(1000)).0;
        assert_eq!(to_next(5000), 1000);
        assert_eq!(to_next(5300), 700);
        assert_eq!(to_next(5999), 1001);
    }
}
