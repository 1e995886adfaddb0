//! From columns to samples.

use std::ops::{Range, RangeInclusive};

use facts::sample::Clock;
use facts::unit::Nanos;

use crate::sample::{GaugeRange, Reading, Sample};
use crate::window::Points;

/// Which samples of a time are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extract {
    All,
    /// The last sample of each block, or that the series is not there any more: the last of these is the newest.
    Newest,
}

/// The ticks of a block, as far as they are wanted.
pub(crate) struct Outlet<'c> {
    clocks: &'c [Clock],
    /// Nanoseconds since 1970.
    wanted_ns: &'c RangeInclusive<i64>,
    /// Outside of these places no tick is wanted.
    places: Range<usize>,
    /// A series without a value at a tick is not there any more.
    has_ends: bool,
    extract: Extract,
}

impl<'c> Outlet<'c> {
    pub(crate) fn new(
        clocks: &'c [Clock],
        wanted_ns: &'c RangeInclusive<i64>,
        has_ends: bool,
        extract: Extract,
    ) -> Self {
        let is_wanted = |clock: &Clock| wanted_ns.contains(&clock.realtime.0.cast_signed());
        // The clock may have been set, so that not all between these are.
        let first = clocks.iter().position(is_wanted).unwrap_or(clocks.len());
        let end = clocks.iter().rposition(is_wanted).map_or(first, |last| last + 1);
        Self { clocks, wanted_ns, places: first..end, has_ends, extract }
    }

    /// The samples of a series. `is_there` is whether it had a value at the last tick.
    pub(crate) fn push(&mut self, points: &Points, is_there: &mut bool, each: impl FnMut(Reading)) {
        match self.extract {
            Extract::All => self.push_all(points, is_there, each),
            Extract::Newest => self.push_newest(points, is_there, each),
        }
    }

    fn push_newest(&self, points: &Points, is_there: &mut bool, mut each: impl FnMut(Reading)) {
        let mut end = None;
        for place in self.places.clone().rev() {
            let clock = self.clocks[place];
            if !self.wanted_ns.contains(&clock.realtime.0.cast_signed()) {
                continue;
            }
            let Some(value) = points.last.get(place).copied().flatten() else {
                end = Some(clock);
                continue;
            };
            *is_there = !self.has_ends || end.is_none();
            each(match end.filter(|_| self.has_ends) {
                Some(end) => Reading::End(end),
                None => Reading::Sample(Sample { clock, value, range: None }),
            });
            return;
        }
        if let Some(end) = end.filter(|_| self.has_ends && std::mem::take(is_there)) {
            each(Reading::End(end));
        }
    }

    fn push_all(&self, points: &Points, is_there: &mut bool, mut each: impl FnMut(Reading)) {
        for place in self.places.clone() {
            let clock = &self.clocks[place];
            let is_wanted = self.wanted_ns.contains(&clock.realtime.0.cast_signed());
            let of = |column: &[Option<f64>]| column.get(place).copied().flatten();
            let Some(value) = of(&points.last).filter(|_| is_wanted) else {
                if is_wanted && self.has_ends && std::mem::take(is_there) {
                    each(Reading::End(*clock));
                }
                continue;
            };
            *is_there = true;
            if let Some(reached) = of(&points.reached) {
                // What it had reached, its reset, and what it was then, so that increases are exact.
                for (before_ns, value) in [(2, reached), (1, 0.0)] {
                    let realtime = Nanos(clock.realtime.0.saturating_sub(before_ns));
                    each(Reading::Sample(Sample { clock: Clock { realtime, ..*clock }, value, range: None }));
                }
            }
            let range = points.range.as_ref().and_then(|[min, max, sum, count]| {
                Some(GaugeRange { min: of(min)?, max: of(max)?, sum: of(sum)?, count: of(count)? })
            });
            each(Reading::Sample(Sample { clock: *clock, value, range }));
        }
    }
}
