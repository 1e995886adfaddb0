//! When some ticks were.

use facts::sample::Clock;
use facts::unit::Nanos;

/// The times by which blocks and chunks are found and become old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeRange {
    /// Since 1970: the earliest and the latest, since the clock may have been set meanwhile.
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    /// In seconds of the boot clock, which cannot be set.
    pub(crate) lasts_s: i64,
}

impl TimeRange {
    /// That of these ticks.
    pub(crate) fn of(clocks: &[Clock]) -> Self {
        let realtimes = || clocks.iter().map(|clock| clock.realtime.0.cast_signed());
        let boottime = |clock: Option<&Clock>| clock.map(|clock| clock.boottime).unwrap_or_default();
        let lasts = boottime(clocks.last()).saturating_sub(boottime(clocks.first()));
        Self {
            first_ns: realtimes().min().unwrap_or_default(),
            last_ns: realtimes().max().unwrap_or_default(),
            lasts_s: i64::try_from(lasts.0 / Nanos::SECOND.0).unwrap_or(0) + 1,
        }
    }
}
