//! What a receiver took last: it may lose that if it ends before it has written it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::source::{ORIGIN_COUNT, Origin};

/// What goes out again was first taken no longer ago than so many times the span: a receiver that fails again and again would get more
/// and more.
const MOST_SPANS: u32 = 10;

/// The beginnings of what was taken, by when it was.
pub(crate) struct Unsettled {
    /// What was taken so long ago is written.
    span: Duration,
    taken: VecDeque<Taken>,
    begun: Instant,
    /// What was taken since then went out again in the last outage.
    since: Option<Instant>,
    /// When the last of that was taken.
    again_at: Option<Instant>,
}

struct Taken {
    at: Instant,
    origin: Origin,
    /// It lies behind this place, in nanoseconds since 1970.
    behind_ns: i64,
}

impl Unsettled {
    pub(crate) fn new(span: Duration) -> Self {
        Self { span, taken: VecDeque::new(), begun: Instant::now(), since: None, again_at: None }
    }

    /// Adds what was taken for the first time.
    pub(crate) fn take(&mut self, origin: Origin, behind_ns: i64, now: Instant) {
        if self.span.is_zero() {
            return;
        }
        let longest = self.span * MOST_SPANS;
        while self.taken.front().is_some_and(|taken| now.duration_since(taken.at) > longest) {
            self.taken.pop_front();
        }
        self.taken.push_back(Taken { at: now, origin, behind_ns });
    }

    /// Remembers that something was taken that had been taken before.
    pub(crate) fn take_again(&mut self, now: Instant) {
        self.again_at = Some(now);
    }

    /// Returns the place in each origin behind which all must go out again, now that an outage begins; `None`: nothing of it. `is_going_out`:
    /// something of the last outage still has to.
    pub(crate) fn step_back(&mut self, is_going_out: bool, now: Instant) -> [Option<i64>; ORIGIN_COUNT] {
        // What went out again a moment ago is as little written as all else.
        let is_new = |at: Instant| now.duration_since(at) <= self.span;
        let is_disturbed = is_going_out || self.again_at.is_some_and(is_new);
        let since_last = self.since.filter(|_| is_disturbed).map(|since| now.duration_since(since));
        let age = since_last.map_or(self.span, |age| age.max(self.span)).min(self.span * MOST_SPANS);
        let since = now.checked_sub(age).unwrap_or(self.begun);
        self.since = Some(since);
        let mut places = [None; ORIGIN_COUNT];
        for taken in self.taken.iter().filter(|taken| taken.at >= since) {
            let place: &mut Option<i64> = &mut places[taken.origin as usize];
            *place = Some(place.map_or(taken.behind_ns, |place| place.min(taken.behind_ns)));
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_secs(20);

    /// One that takes a second's samples in each second, up to an instant.
    fn steady(seconds: u64) -> (Unsettled, Instant) {
        let mut unsettled = Unsettled::new(SPAN);
        let begun = unsettled.begun;
        for second in 1..=seconds {
            let at = begun + Duration::from_secs(second);
            unsettled.take(Origin::Machine, i64::try_from(second - 1).unwrap(), at);
        }
        (unsettled, begun)
    }

    #[test]
    fn what_was_taken_last_goes_out_again() {
        let (mut unsettled, begun) = steady(100);
        let places = unsettled.step_back(false, begun + Duration::from_secs(101));
        assert_eq!(places, [Some(80), None, None, None]);
        // Much later nothing of it is in danger.
        let places = unsettled.step_back(false, begun + Duration::from_secs(500));
        assert_eq!(places, [None; ORIGIN_COUNT]);
    }

    #[test]
    fn while_catching_up_a_second_has_many_samples() {
        let (mut unsettled, begun) = steady(10);
        unsettled.take(Origin::Rules, 5, begun + Duration::from_secs(11));
        unsettled.take(Origin::Machine, 3600, begun + Duration::from_secs(40));
        unsettled.take(Origin::Machine, 7200, begun + Duration::from_secs(41));
        let places = unsettled.step_back(false, begun + Duration::from_secs(42));
        assert_eq!(places, [Some(3600), None, None, None]);
    }

    #[test]
    fn what_went_out_again_is_in_danger_again() {
        let (mut unsettled, begun) = steady(100);
        let at = |second| begun + Duration::from_secs(second);
        assert_eq!(unsettled.step_back(false, at(101))[0], Some(80));
        unsettled.take_again(at(110));
        // The receiver ends once more.
        assert_eq!(unsettled.step_back(false, at(125))[0], Some(80));
        assert_eq!(unsettled.step_back(true, at(150))[0], Some(80));
        // Half a minute later that is written.
        unsettled.take_again(at(160));
        unsettled.take(Origin::Machine, 100, at(185));
        assert_eq!(unsettled.step_back(false, at(190))[0], Some(100));
    }

    #[test]
    fn one_that_fails_again_and_again_does_not_get_more_and_more() {
        let (mut unsettled, begun) = steady(1000);
        for second in 800..1000 {
            let at = begun + Duration::from_secs(second);
            unsettled.take_again(at);
            let place = unsettled.step_back(true, at)[0].unwrap();
            assert!(place >= 790.min(i64::try_from(second).unwrap() - 201), "{second}: {place}");
        }
    }

    #[test]
    fn without_a_span_nothing_is_remembered() {
        let mut unsettled = Unsettled::new(Duration::ZERO);
        unsettled.take(Origin::Machine, 5, Instant::now());
        assert_eq!(unsettled.step_back(false, Instant::now()), [None; ORIGIN_COUNT]);
    }
}
