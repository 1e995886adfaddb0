//! Which checks are due. Pure: the time is given.

use std::collections::BTreeSet;

use super::definition::Check;
use super::slot;

/// A check that is late by more than this, or by more than its interval, is left out until its next time.
const MAX_LATE_MS: i64 = 60_000;

/// When one check is due.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Its place in each interval.
    offset_ms: i64,
    interval_ms: i64,
    retry_ms: i64,
    /// `None`: it is not done here, or runs.
    due_ms: Option<i64>,
    /// It runs, or cannot be killed.
    is_running: bool,
    /// It is to be done as soon as it can be.
    is_hurried: bool,
}

/// When checks are due, by their places in the list.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    entries: Vec<Entry>,
    due: BTreeSet<(i64, usize)>,
    /// Times that were left out.
    pub(super) skipped: u64,
}

impl Schedule {
    /// Creates the schedule of these checks, each at its next time.
    pub(super) fn new<'c>(checks: impl Iterator<Item = (&'c Check, bool)>, now_ms: i64) -> Self {
        let mut schedule = Self::default();
        for (place, (check, is_active)) in checks.enumerate() {
            let milliseconds = |length: std::time::Duration| length.as_millis() as i64;
            let interval_ms = milliseconds(check.interval);
            schedule.entries.push(Entry {
                offset_ms: slot::offset_ms(&check.name.to_string(), interval_ms),
                interval_ms,
                retry_ms: milliseconds(check.retry_interval),
                ..Entry::default()
            });
            if is_active {
                schedule.set_next(place, now_ms);
            }
        }
        schedule
    }

    #[cfg(test)]
    fn due_ms(&self, place: usize) -> Option<i64> {
        self.entries[place].due_ms
    }

    /// The first time after this one at which something is due.
    pub(super) fn first_after(&self, now_ms: i64) -> Option<i64> {
        self.due.range((now_ms + 1, 0)..).next().map(|(at, _)| *at)
    }

    /// Returns the checks that are due, the first one first. Those that are too late are left out.
    pub(super) fn due(&mut self, now_ms: i64) -> Vec<usize> {
        let due: Vec<(i64, usize)> = self.due.range(..=(now_ms, usize::MAX)).copied().collect();
        let mut places = Vec::with_capacity(due.len());
        for (at, place) in due {
            let entry = &self.entries[place];
            if entry.is_hurried {
                places.extend((!entry.is_running).then_some(place));
                continue;
            }
            let is_late = now_ms - at > MAX_LATE_MS.min(entry.interval_ms);
            if is_late || entry.is_running {
                self.skipped += 1;
                self.set_next(place, now_ms);
            } else {
                places.push(place);
            }
        }
        places
    }

    /// A check has begun: it is due again at its next time.
    pub(super) fn begin(&mut self, place: usize, now_ms: i64) {
        self.set_next(place, now_ms);
        self.entries[place].is_running = true;
    }

    /// A check is not to be done now: it is due again at its next time.
    pub(super) fn pass(&mut self, place: usize, now_ms: i64) {
        self.set_next(place, now_ms);
    }

    /// It has ended, and is to be done again soon if its result is not certain.
    pub(super) fn end(&mut self, place: usize, is_retried: bool, now_ms: i64) {
        let entry = &self.entries[place];
        if is_retried && !entry.is_hurried {
            self.set_due(place, now_ms + entry.retry_ms);
        }
    }

    /// It has begun before.
    pub(super) fn set_running(&mut self, place: usize) {
        self.entries[place].is_running = true;
    }

    /// Nothing of it runs any more.
    pub(super) fn set_gone(&mut self, place: usize) {
        self.entries[place].is_running = false;
    }

    /// Does one at once, or again as soon as it does not run any more.
    pub(super) fn hurry(&mut self, place: usize, now_ms: i64) {
        let entry = &mut self.entries[place];
        let Some(due_ms) = entry.due_ms else { return };
        entry.is_hurried = true;
        self.set_due(place, due_ms.min(now_ms));
    }

    /// Returns whether one is to be done as soon as it can be.
    pub(super) fn is_hurried(&self, place: usize) -> bool {
        self.entries[place].is_hurried
    }

    /// Gives all their next times anew: the clock was set. Those that are to be done at once still are.
    pub(super) fn set_all_anew(&mut self, now_ms: i64) {
        for place in 0..self.entries.len() {
            match &self.entries[place] {
                Entry { due_ms: None, .. } => {}
                Entry { is_hurried: true, .. } => self.set_due(place, now_ms),
                _ => self.set_next(place, now_ms),
            }
        }
    }

    fn set_next(&mut self, place: usize, now_ms: i64) {
        let entry = &mut self.entries[place];
        entry.is_hurried = false;
        let next_ms = slot::next_at_ms(entry.offset_ms, entry.interval_ms, now_ms);
        self.set_due(place, next_ms);
    }

    fn set_due(&mut self, place: usize, at_ms: i64) {
        if let Some(before) = self.entries[place].due_ms.replace(at_ms) {
            self.due.remove(&(before, place));
        }
        self.due.insert((at_ms, place));
    }
}

/// How many may begin now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ceiling {
    a_second: f64,
    /// The number of checks that may begin at once.
    room: f64,
    at_ms: i64,
}

impl Ceiling {
    pub(super) fn new(a_second: f64, now_ms: i64) -> Self {
        Self { a_second, room: Self::burst(a_second), at_ms: now_ms }
    }

    /// A tenth of a second's.
    fn burst(a_second: f64) -> f64 {
        (a_second / 10.0).max(1.0)
    }

    /// Takes room for one, if there is some.
    pub(super) fn take(&mut self, now_ms: i64) -> bool {
        let passed_s = (now_ms - self.at_ms).max(0) as f64 / 1000.0;
        self.at_ms = now_ms;
        self.room = (self.room + passed_s * self.a_second).min(Self::burst(self.a_second));
        let has_room = self.room >= 1.0;
        if has_room {
            self.room -= 1.0;
        }
        has_room
    }

    /// How long it takes until there is room.
    pub(super) fn wait_ms(&self) -> i64 {
        (((1.0 - self.room).max(0.0) / self.a_second) * 1000.0).ceil() as i64
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::definition::{CheckName, CheckWay};
    use super::*;

    fn check(service: &str) -> Check {
        Check {
            interval: Duration::from_secs(300),
            retry_interval: Duration::from_secs(60),
            ..Check::new(CheckName { host: String::new(), service: service.to_owned() }, CheckWay::Passive)
        }
    }

    fn schedule(now_ms: i64) -> Schedule {
        let checks = [check("a"), check("b")];
        Schedule::new(checks.iter().map(|check| (check, true)), now_ms)
    }

    #[test]
    fn each_is_due_at_its_place_and_soon_again_if_something_is_wrong() {
        let mut schedule = schedule(0);
        let first = schedule.first_after(0).unwrap();
        let place = schedule.due(first)[0];
        schedule.begin(place, first + 5);
        assert_eq!(
            (schedule.due_ms(place), schedule.entries[place].is_running),
            (Some(first + 300_000), true)
        );
        schedule.end(place, true, first + 900);
        schedule.set_gone(place);
        assert_eq!(schedule.due_ms(place), Some(first + 60_900));
        // Then it is back at its place.
        schedule.begin(place, first + 60_900);
        assert_eq!(schedule.due_ms(place), Some(first + 300_000));
    }

    #[test]
    fn what_is_late_or_runs_is_left_out_and_counted() {
        let mut schedule = schedule(0);
        let (due_a, due_b) = (schedule.due_ms(0).unwrap(), schedule.due_ms(1).unwrap());
        let now_ms = due_a.max(due_b) + 61_000;
        assert!(schedule.due(now_ms).is_empty());
        assert_eq!(schedule.skipped, 2);
        schedule.hurry(0, now_ms);
        assert_eq!(schedule.due(now_ms), [0]);
        schedule.begin(0, now_ms);
        let again = schedule.due_ms(0).unwrap();
        assert!(!schedule.due(again).contains(&0));
        assert_eq!(schedule.skipped, 3);
        // What is asked for while it runs comes after that, however late.
        schedule.hurry(0, again);
        assert!(!schedule.due(again).contains(&0));
        schedule.set_gone(0);
        assert!(schedule.due(again + 100_000).contains(&0));
    }

    #[test]
    fn a_clock_that_was_set_starts_no_burst() {
        let mut schedule = schedule(0);
        schedule.set_all_anew(-10_000_000);
        assert!(schedule.first_after(-10_000_000).unwrap() < -9_690_000);
        assert!(schedule.due(-10_000_000).is_empty());
        // What was asked for is not forgotten.
        schedule.hurry(1, -10_000_000);
        schedule.set_all_anew(-20_000_000);
        assert_eq!(schedule.due(-20_000_000), [1]);
    }

    #[test]
    fn no_more_begin_than_the_ceiling_lets() {
        let mut ceiling = Ceiling::new(50.0, 0);
        assert_eq!((0..10).filter(|_| ceiling.take(0)).count(), 5);
        assert_eq!(ceiling.wait_ms(), 20);
        assert_eq!((0..100).filter(|tick| ceiling.take(tick * 10)).count(), 49);
    }
}
