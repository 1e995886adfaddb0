//! Sums of spans, made by a replay.

use std::ops::Range;

use store::{History, StoreError};

use super::boots::Boots;
use super::span::Span;
use super::span_sums::{SpanBuilder, SpanSums};

/// Makes the sums of some spans of one kind that follow one another, by one replay.
pub(super) fn make(
    history: &History,
    kind: impl Fn(i64) -> Span,
    numbers: Range<i64>,
) -> Result<Vec<(Span, SpanSums)>, StoreError> {
    let (first, last) = (kind(numbers.start), kind(numbers.end - 1));
    let [from_ms, to_ms] = [first.range_ms()[0], last.range_ms()[1] + 1];
    let mut replay = history.tasks(from_ms * 1_000_000, to_ms * 1_000_000 - 1)?;
    // Not one after the other: the clock may have been set.
    let mut builders: Vec<SpanBuilder> = numbers.clone().map(|_| SpanBuilder::default()).collect();
    while replay.advance()? {
        let at_ms = replay.round().clock.realtime.0.cast_signed() / 1_000_000;
        let number = at_ms.div_euclid(first.length_ms());
        let place = usize::try_from(number - numbers.start).unwrap_or(usize::MAX);
        if let Some(builder) = builders.get_mut(place) {
            builder.add(at_ms, &mut replay)?;
        }
    }
    let boots = Boots::of(history)?;
    let sums = builders.into_iter().map(|builder| builder.finish(&boots));
    Ok(numbers.map(kind).zip(sums).collect())
}
