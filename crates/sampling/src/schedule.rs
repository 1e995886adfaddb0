//! When each interval is due. Intervals are aligned to the real-time clock, so that segments with the same interval share a wake-up
//! and a clock in the bar changes with the minute.

use std::time::Duration;

use facts::unit::Nanos;

/// Intervals, and when each was due last.
#[derive(Clone, Debug)]
pub struct Schedule {
    intervals: Vec<ScheduledInterval>,
}

#[derive(Clone, Copy, Debug)]
struct ScheduledInterval {
    length: Nanos,
    /// The number of intervals from 1970 to when it was due last.
    last: Option<u64>,
}

impl Schedule {
    /// Creates a schedule of these intervals. All are due at once.
    pub fn new(durations: impl Iterator<Item = Duration>) -> Self {
        let nanos = |interval: Duration| u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        let intervals =
            durations.map(|length| ScheduledInterval { length: Nanos(nanos(length)), last: None });
        Self { intervals: intervals.collect() }
    }

    /// Returns true if an interval is due at `now` on the real-time clock, and only once in each interval. Setting the clock and a
    /// suspend start a new interval.
    pub fn take_due(&mut self, index: usize, now: Nanos) -> bool {
        let interval = &mut self.intervals[index];
        let number = now.0 / interval.length.0;
        let is_due = interval.last != Some(number);
        interval.last = Some(number);
        is_due
    }

    /// Returns true if any interval is due.
    pub fn is_any_due(&self, now: Nanos) -> bool {
        self.intervals.iter().any(|interval| interval.last != Some(now.0 / interval.length.0))
    }

    /// When the next interval begins; `None` if there are no intervals.
    pub fn next(&self, now: Nanos) -> Option<Nanos> {
        let next = |interval: &ScheduledInterval| {
            Nanos((now.0 / interval.length.0).saturating_add(1).saturating_mul(interval.length.0))
        };
        self.intervals.iter().map(next).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(schedule: &mut Schedule, now: u64) -> Vec<usize> {
        (0..schedule.intervals.len()).filter(|index| schedule.take_due(*index, Nanos(now))).collect()
    }

    #[test]
    fn ten_segments_at_a_second_are_one_wake_up_and_five_seconds_fall_on_one_of_them() {
        let second = Duration::from_secs(1);
        let mut schedule = Schedule::new([second, second * 5].into_iter());
        let mut now = Nanos(1_000_000_000_300_000_000);
        let mut wakes = Vec::new();
        assert_eq!(due(&mut schedule, now.0), [0, 1]);
        for _ in 0..10 {
            now = schedule.next(now).unwrap();
            assert_eq!(now.0 % 1_000_000_000, 0);
            wakes.push(due(&mut schedule, now.0).len());
        }
        assert_eq!(wakes, [1, 1, 1, 1, 2, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn a_late_wake_up_moves_nothing_and_a_clock_that_was_set_is_due() {
        let mut schedule = Schedule::new([Duration::from_secs(1)].into_iter());
        let second = 1_000_000_000;
        assert_eq!(due(&mut schedule, 10 * second), [0]);
        assert_eq!(due(&mut schedule, 10 * second + second / 2), [0; 0]);
        assert_eq!(due(&mut schedule, 11 * second + second / 2), [0]);
        assert_eq!(schedule.next(Nanos(11 * second + second / 2)), Some(Nanos(12 * second)));
        assert_eq!(due(&mut schedule, 3 * second), [0]);
        assert_eq!(due(&mut schedule, 9_000 * second), [0]);
        assert_eq!(Schedule::new([].into_iter()).next(Nanos(5)), None);
    }
}
