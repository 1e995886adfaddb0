//! The span of sums: ten seconds, a minute, or an hour.

use std::ops::Range;

/// The length of a minute in milliseconds. Minutes begin at multiples of it.
pub(crate) const MINUTE_MS: i64 = 60_000;
/// How many minutes an hour has.
pub(crate) const MINUTES: i64 = 60;
const TEN_SECONDS_MS: i64 = 10_000;
/// Above the key of each minute until the year 2 million.
const FIRST_KEY_OF_TEN_SECONDS: i64 = 1 << 40;

/// Ten seconds, a minute or an hour, by its number since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Span {
    TenSeconds(i64),
    Minute(i64),
    Hour(i64),
}

impl Span {
    /// Returns its key in the file: that of an hour is below 0.
    pub(super) fn key(self) -> i64 {
        match self {
            Self::TenSeconds(number) => FIRST_KEY_OF_TEN_SECONDS + number,
            Self::Minute(number) => number,
            Self::Hour(number) => -1 - number,
        }
    }

    pub(super) fn length_ms(self) -> i64 {
        match self {
            Self::TenSeconds(_) => TEN_SECONDS_MS,
            Self::Minute(_) => MINUTE_MS,
            Self::Hour(_) => MINUTES * MINUTE_MS,
        }
    }

    /// Returns its first and its last millisecond since 1970.
    pub(crate) fn range_ms(self) -> [i64; 2] {
        let (Self::TenSeconds(number) | Self::Minute(number) | Self::Hour(number)) = self;
        let length_ms = self.length_ms();
        [number * length_ms, (number + 1) * length_ms - 1]
    }

    /// Returns the minutes that it is in.
    pub(crate) fn minutes(self) -> Range<i64> {
        let [from_ms, to_ms] = self.range_ms();
        from_ms.div_euclid(MINUTE_MS)..to_ms.div_euclid(MINUTE_MS) + 1
    }
}

/// Returns the numbers of the ten seconds that are wholly between two times in milliseconds since 1970, both included.
pub(crate) fn whole_ten_seconds(from_ms: i64, to_ms: i64) -> Range<i64> {
    whole(from_ms, to_ms, TEN_SECONDS_MS)
}

/// Returns the minutes that are wholly between two times in milliseconds since 1970, both included.
pub(crate) fn whole_minutes(from_ms: i64, to_ms: i64) -> Range<i64> {
    whole(from_ms, to_ms, MINUTE_MS)
}

/// Returns the hours all of whose minutes are among some.
pub(crate) fn whole_hours(minutes: &Range<i64>) -> Range<i64> {
    whole(minutes.start, minutes.end.saturating_sub(1), MINUTES)
}

fn whole(from: i64, to: i64, length: i64) -> Range<i64> {
    let first = from.saturating_add(length - 1).div_euclid(length);
    first..to.saturating_add(1).div_euclid(length).max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_whole() {
        assert_eq!(whole_minutes(0, 59_999), 0..1);
        assert_eq!(whole_minutes(1, 59_999), 1..1);
        assert_eq!(whole_minutes(0, 59_998), 0..0);
        assert_eq!(whole_minutes(59_999, 240_000), 1..4);
        assert_eq!(whole_minutes(i64::MIN, i64::MAX).end, i64::MAX / 60_000);
        assert_eq!(whole_hours(&(0..60)), 0..1);
        assert_eq!(whole_hours(&(1..119)), 1..1);
        assert_eq!(whole_hours(&(59..180)), 1..3);
        assert_eq!(whole_hours(&(60..60)), 1..1);
    }

    #[test]
    fn a_span_has_a_key_and_a_time() {
        let spans = [Span::Hour(7), Span::Hour(0), Span::Minute(0), Span::Minute(7), Span::TenSeconds(0)];
        assert!(spans.map(Span::key).is_sorted_by(|one, next| one < next));
        assert_eq!(Span::TenSeconds(1).range_ms(), [10_000, 19_999]);
        assert_eq!(Span::Minute(1).range_ms(), [60_000, 119_999]);
        assert_eq!(Span::Hour(1).range_ms(), [3_600_000, 7_199_999]);
        let minutes = [Span::TenSeconds(11), Span::Minute(1), Span::Hour(1)].map(Span::minutes);
        assert_eq!(minutes, [1..2, 1..2, 60..120]);
    }
}
