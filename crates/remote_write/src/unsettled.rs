//! What a receiver took last: it may lose that if it ends before it has written it.

use std::time::{Duration, Instant};

use crate::source::{ORIGIN_COUNT, Origin};

/// What was taken for the first time longer ago than so many spans does not go out again because of a short outage: a receiver that loses
/// an answer every other second would get more and more of it.
const MAX_SPANS: u32 = 3;

/// What was taken in the last span of time.
pub(crate) struct Unsettled {
    /// What was taken so long ago is written.
    span: Duration,
    taken: Vec<Taken>,
    /// When the receiver answered last.
    answered_at: Option<Instant>,
}

struct Taken {
    origin: Origin,
    /// It lies between these places, in nanoseconds since 1970.
    behind_ns: i64,
    to_ns: i64,
    /// When it was taken last, and when for the first time.
    at: Instant,
    first_at: Instant,
}

impl Unsettled {
    pub(crate) fn new(span: Duration) -> Self {
        Self { span, taken: Vec::new(), answered_at: None }
    }

    /// Remembers that the receiver answered.
    pub(crate) fn answer(&mut self, now: Instant) {
        self.answered_at = Some(now);
    }

    /// Adds what was taken by the last answer, between two places in nanoseconds since 1970; it may have been taken before.
    pub(crate) fn take(&mut self, origin: Origin, [behind_ns, to_ns]: [i64; 2]) {
        let Some(now) = self.answered_at.filter(|_| !self.span.is_zero()) else { return };
        self.taken.retain(|taken| now.duration_since(taken.at) <= self.span);
        // What is not known yet lies before or behind the known.
        let (mut known_behind_ns, mut known_to_ns) = (to_ns, behind_ns);
        let is_other =
            |taken: &Taken| taken.origin != origin || taken.to_ns <= behind_ns || to_ns <= taken.behind_ns;
        for taken in self.taken.iter_mut().filter(|taken| !is_other(taken)) {
            taken.at = now;
            known_behind_ns = known_behind_ns.min(taken.behind_ns);
            known_to_ns = known_to_ns.max(taken.to_ns);
        }
        for (behind_ns, to_ns) in [(behind_ns, known_behind_ns), (known_to_ns.max(known_behind_ns), to_ns)] {
            if behind_ns < to_ns {
                self.taken.push(Taken { origin, behind_ns, to_ns, at: now, first_at: now });
            }
        }
    }

    /// The place in each origin behind which all must go out again, now that an outage is seen; `None`: nothing of it. The receiver may have
    /// ended right after its last answer.
    pub(crate) fn places(&self) -> [Option<i64>; ORIGIN_COUNT] {
        let mut places = [None; ORIGIN_COUNT];
        let Some(ended_at) = self.answered_at else { return places };
        let age = |at: Instant| ended_at.saturating_duration_since(at);
        let is_unsettled =
            |taken: &&Taken| age(taken.at) <= self.span && age(taken.first_at) <= self.span * MAX_SPANS;
        for taken in self.taken.iter().filter(is_unsettled) {
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

    /// One whose times are seconds.
    struct Receiver {
        unsettled: Unsettled,
        begun: Instant,
    }

    impl Receiver {
        fn new() -> Self {
            Self { unsettled: Unsettled::new(SPAN), begun: Instant::now() }
        }

        fn take(&mut self, range: [i64; 2], at_s: u64) {
            let at = self.begun + Duration::from_secs(at_s);
            self.unsettled.answer(at);
            self.unsettled.take(Origin::Machine, range);
        }

        /// A second's samples in each second.
        fn take_each(&mut self, seconds: std::ops::Range<u64>) {
            seconds.for_each(|second| self.take([second, second + 1].map(u64::cast_signed), second + 1));
        }

        fn place(&self) -> Option<i64> {
            self.unsettled.places()[Origin::Machine as usize]
        }
    }

    #[test]
    fn what_was_taken_last_goes_out_again() {
        let mut receiver = Receiver::new();
        assert_eq!(receiver.place(), None);
        receiver.take_each(0..100);
        // However late the outage is seen: it began after the last answer.
        assert_eq!(receiver.place(), Some(79));
        assert_eq!(receiver.unsettled.places()[1..], [None; ORIGIN_COUNT - 1]);
        // An answer to something else says that it goes on.
        receiver.unsettled.answer(receiver.begun + Duration::from_secs(500));
        assert_eq!(receiver.place(), None);
    }

    #[test]
    fn while_catching_up_a_second_has_many_samples() {
        let mut receiver = Receiver::new();
        receiver.take_each(0..10);
        receiver.take([10, 3600], 40);
        receiver.take([3600, 7200], 41);
        assert_eq!(receiver.place(), Some(10));
    }

    #[test]
    fn what_went_out_again_is_in_danger_again() {
        let mut receiver = Receiver::new();
        receiver.take_each(0..100);
        assert_eq!(receiver.place(), Some(79));
        // After five minutes it is back, takes what it had and what is new, and ends once more.
        receiver.take([79, 110], 400);
        receiver.take([110, 400], 401);
        assert_eq!(receiver.place(), Some(79));
        // Half a minute later that is written.
        receiver.take([400, 430], 431);
        assert_eq!(receiver.place(), Some(400));
    }

    #[test]
    fn one_that_loses_answers_does_not_get_more_and_more() {
        let mut receiver = Receiver::new();
        receiver.take_each(0..100);
        for second in 100..1000 {
            let place = receiver.place().unwrap();
            assert!(place >= second - 82, "{second}: {place}");
            // The last part has something new in it.
            let middle = second - 5;
            receiver.take([place, middle.max(place + 1)], second.cast_unsigned());
            receiver.take([middle.max(place + 1), second], second.cast_unsigned());
        }
    }

    #[test]
    fn without_a_span_nothing_is_remembered() {
        let mut unsettled = Unsettled::new(Duration::ZERO);
        unsettled.answer(Instant::now());
        unsettled.take(Origin::Machine, [0, 5]);
        assert_eq!(unsettled.places(), [None; ORIGIN_COUNT]);
    }
}
