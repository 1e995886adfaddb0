//! How a time is read: whole minutes by their sums, the rest by a replay.

use crate::task_sums::{MINUTE_MS, SumsFile, whole_minutes};

/// A part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The first and the last millisecond since 1970.
    Replay([i64; 2]),
    /// The sums of a minute.
    Sums(i64),
}

/// Divides a time. Returns `None` if sums would be of no use.
pub(super) fn parts(sums: &SumsFile, range: [i64; 2]) -> Option<Vec<Part>> {
    // A file that cannot be read is none.
    divide(range, &sums.minutes().ok()?)
}

fn divide([from_ms, to_ms]: [i64; 2], known: &[i64]) -> Option<Vec<Part>> {
    let within = whole_minutes(from_ms, to_ms);
    // The first part must have a round: it says what tasks had done before.
    let first = within.start.max(from_ms.div_euclid(MINUTE_MS) + 1);
    let known: Vec<i64> =
        known.iter().copied().filter(|minute| (first..within.end).contains(minute)).collect();
    // Each replay begins with some minutes of which nothing is wanted.
    let is_of_use = !known.is_empty() && known.len() as i64 > (within.end - first) / 2;
    let mut parts = Vec::with_capacity(known.len() + 2);
    let mut next_ms = from_ms;
    for minute in known.into_iter().filter(|_| is_of_use) {
        let begin_ms = minute * MINUTE_MS;
        if next_ms < begin_ms {
            parts.push(Part::Replay([next_ms, begin_ms - 1]));
        }
        parts.push(Part::Sums(minute));
        next_ms = begin_ms + MINUTE_MS;
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
        use Part::{Replay, Sums};
        let known = [1, 2, 3, 5, 9];
        let expected = [
            Replay([59_000, 119_999]),
            Sums(2),
            Sums(3),
            Replay([240_000, 299_999]),
            Sums(5),
            Replay([360_000, 361_000]),
        ];
        assert_eq!(divide([60_000, 361_000], &known).unwrap()[1..], expected[1..]);
        assert_eq!(divide([59_000, 361_000], &known).unwrap()[..2], [Replay([59_000, 59_999]), Sums(1)]);
        // Up to the end of a minute; less than one; and none that is known.
        assert_eq!(divide([1, 119_999], &known), Some(vec![Replay([1, 59_999]), Sums(1)]));
        assert_eq!(divide([1, 119_998], &known), None);
        assert_eq!(divide([400_000, 500_000], &known), None);
        assert_eq!(divide([400_000, i64::MAX], &known), None);
    }
}
