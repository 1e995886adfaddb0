//! How a time is read: whole hours, minutes and ten seconds by their sums, the rest by a replay.

use std::ops::Range;

use crate::task_sums::{MINUTE_MS, MINUTES, Span, SumsFile, whole_hours, whole_minutes, whole_ten_seconds};

/// A part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The first and the last millisecond since 1970.
    Replay([i64; 2]),
    /// The sums of a span.
    Sums(Span),
}

/// Divides a time. `exact_ms` are the first and the last round that sums are of; `has_hours`: sums of hours say enough. Returns `None` if sums
/// would be of no use.
pub(super) fn parts(
    sums: &SumsFile,
    exact_ms: [i64; 2],
    range: [i64; 2],
    has_hours: bool,
) -> Option<Vec<Part>> {
    let wanted = wanted(exact_ms, range);
    // A file that cannot be read is none.
    let known = sums.minutes(wanted.clone()).ok()?;
    let hours = if has_hours { sums.hours(whole_hours(&wanted)).ok()? } else { Vec::new() };
    let recent = match known.last() {
        Some(newest) => sums.ten_seconds(whole_after(*newest, exact_ms[1].min(range[1]))).ok()?,
        None => Vec::new(),
    };
    divide(range, wanted, known, &hours, &recent)
}

/// The spans of ten seconds that are wholly between a minute and a time.
fn whole_after(minute: i64, to_ms: i64) -> Range<i64> {
    whole_ten_seconds((minute + 1) * MINUTE_MS, to_ms)
}

/// The minutes of a time whose sums can be used.
fn wanted([exact_from_ms, exact_to_ms]: [i64; 2], [from_ms, to_ms]: [i64; 2]) -> Range<i64> {
    let within = whole_minutes(from_ms, to_ms);
    let exact = whole_minutes(exact_from_ms, exact_to_ms);
    // The first part must have a round: it says what tasks had done before.
    let first = within.start.max(exact.start).max(from_ms.div_euclid(MINUTE_MS) + 1);
    first..within.end.min(exact.end).max(first)
}

fn divide(
    [from_ms, to_ms]: [i64; 2],
    wanted: Range<i64>,
    known: Vec<i64>,
    hours: &[i64],
    recent: &[i64],
) -> Option<Vec<Part>> {
    // Before each replay some minutes are read for nothing.
    let is_of_use = !known.is_empty() && known.len() as i64 > (wanted.end - wanted.start) / 2;
    let is_apart = |minute: &i64| hours.binary_search(&minute.div_euclid(MINUTES)).is_err();
    let apart = known.into_iter().filter(is_apart).map(Span::Minute);
    let recent = recent.iter().copied().map(Span::TenSeconds);
    let mut spans: Vec<Span> = hours.iter().copied().map(Span::Hour).chain(apart).chain(recent).collect();
    spans.sort_unstable_by_key(|span| span.range_ms());
    let mut parts = Vec::with_capacity(spans.len() + 2);
    let mut next_ms = from_ms;
    for span in spans.into_iter().filter(|_| is_of_use) {
        let [begin_ms, end_ms] = span.range_ms();
        if next_ms < begin_ms {
            parts.push(Part::Replay([next_ms, begin_ms - 1]));
        }
        parts.push(Part::Sums(span));
        next_ms = end_ms + 1;
    }
    if next_ms <= to_ms {
        parts.push(Part::Replay([next_ms, to_ms]));
    }
    is_of_use.then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_divided_without_gaps() {
        use Part::Replay;
        let sums = |minute| Part::Sums(Span::Minute(minute));
        let parts = |range: [i64; 2]| {
            let wanted = wanted([0, 599_999], range);
            let known = [1, 2, 3, 5, 9].into_iter().filter(|minute| wanted.contains(minute));
            divide(range, wanted.clone(), known.collect(), &[], &[])
        };
        let expected = [
            Replay([59_000, 119_999]),
            sums(2),
            sums(3),
            Replay([240_000, 299_999]),
            sums(5),
            Replay([360_000, 361_000]),
        ];
        assert_eq!(parts([60_000, 361_000]).unwrap()[1..], expected[1..]);
        assert_eq!(parts([59_000, 361_000]).unwrap()[..2], [Replay([59_000, 59_999]), sums(1)]);
        // Up to the end of a minute; less than one; and none that is known.
        assert_eq!(parts([1, 119_999]), Some(vec![Replay([1, 59_999]), sums(1)]));
        assert_eq!(parts([1, 119_998]), None);
        assert_eq!(parts([400_000, 500_000]), None);
        // Hours, and the minutes beside them.
        let known: Vec<i64> = (50..200).collect();
        let divided = divide([3_000_000, 11_999_999], 50..200, known, &[1, 2], &[]).unwrap();
        let expected = [Part::Sums(Span::Hour(1)), Part::Sums(Span::Hour(2)), sums(180)];
        assert_eq!((divided.len(), &divided[9..13]), (32, &[&[sums(59)], &expected[..]].concat()[..]));
        // Ten seconds after the last minute, as far as they are in the range.
        assert_eq!([whole_after(2, 255_000), whole_after(2, 199_998)], [18..25, 18..19]);
        let divided = divide([60_000, 205_000], 2..3, vec![2], &[], &[18, 19]).unwrap();
        let recent = |number| Part::Sums(Span::TenSeconds(number));
        assert_eq!(divided[2..], [recent(18), recent(19), Replay([200_000, 205_000])]);
        // Rounds that are not as they were recorded.
        assert_eq!(wanted([120_001, 299_998], [0, 400_000]), 3..4);
        assert_eq!(wanted([500_000, 600_000], [0, 400_000]), 9..9);
    }
}
