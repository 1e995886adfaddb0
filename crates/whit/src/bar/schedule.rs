//! When what is due: whole intervals of the clock that people see, so that segments of like intervals share one
//! wake-up, and a clock in the bar turns when the minute does.

use std::time::Duration;

use facts::unit::Nanos;

/// Which whole intervals have begun.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    cadences: Vec<Cadence>,
}

#[derive(Clone, Copy, Debug)]
struct Cadence {
    interval: Nanos,
    /// The number of the interval since 1970 in which it was due last.
    last: Option<u64>,
}

impl Schedule {
    /// With an interval for each cadence; all are due at once.
    pub(crate) fn new(intervals: impl Iterator<Item = Duration>) -> Self {
        let nanos = |interval: Duration| u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        let cadences = intervals.map(|interval| Cadence { interval: Nanos(nanos(interval)), last: None });
        Self { cadences: cadences.collect() }
    }

    /// Whether a cadence is due at `now` on the real-time clock, which it is once in each of its intervals. A clock that
    /// was set, either way, and a machine that slept have begun another.
    pub(crate) fn take_due(&mut self, index: usize, now: Nanos) -> bool {
        let cadence = &mut self.cadences[index];
        let number = now.0 / cadence.interval.0;
        let is_due = cadence.last != Some(number);
        cadence.last = Some(number);
        is_due
    }

    /// Whether any is due.
    pub(crate) fn is_any_due(&self, now: Nanos) -> bool {
        self.cadences.iter().any(|cadence| cadence.last != Some(now.0 / cadence.interval.0))
    }

    /// When the next interval begins; none where there is no cadence.
    pub(crate) fn next(&self, now: Nanos) -> Option<Nanos> {
        let next = |cadence: &Cadence| {
            Nanos((now.0 / cadence.interval.0).saturating_add(1).saturating_mul(cadence.interval.0))
        };
        self.cadences.iter().map(next).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(schedule: &mut Schedule, now: u64) -> Vec<usize> {
        (0..schedule.cadences.len()).filter(|index| schedule.take_due(*index, Nanos(now))).collect()
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
