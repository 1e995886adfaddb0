//! From columns to samples.

use std::ops::RangeInclusive;

use facts::sample::Clock;
use facts::unit::Nanos;

use crate::sample::{GaugeRange, Reading, Sample};
use crate::window::Points;

/// The ticks of a block, as far as they are wanted.
pub(crate) struct Outlet<'c> {
    pub(crate) clocks: &'c [Clock],
    /// Nanoseconds since 1970.
    pub(crate) wanted_ns: &'c RangeInclusive<i64>,
    /// A series without a value at a tick is not there any more.
    pub(crate) has_ends: bool,
}

impl Outlet<'_> {
    /// The samples of a series. `is_there` is whether it had a value at the last tick.
    pub(crate) fn push(&mut self, points: &Points, is_there: &mut bool, mut each: impl FnMut(Reading)) {
        for (place, clock) in self.clocks.iter().enumerate() {
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
