//! Sums of the ten seconds after the last minute that has sums, so that a question about now replays a few seconds, and not the minute that runs.

use std::ops::Range;

use store::{History, StoreError};

use super::file::SumsFile;
use super::replay::make;
use super::span::{MINUTE_MS, Span, whole_ten_seconds};

/// Makes those that are missing from a minute on, and forgets all others; all of them if `first` is `None`. Returns their end in milliseconds since
/// 1970.
pub(super) fn make_recent(
    history: &History,
    file: &mut SumsFile,
    first: Option<i64>,
) -> Result<i64, StoreError> {
    let there = match first {
        Some(minute) => whole_since(history, minute * MINUTE_MS)?,
        None => 0..0,
    };
    let known = file.ten_seconds(0..i64::MAX)?;
    let forgotten = known.iter().copied().filter(|number| !there.contains(number));
    let forgotten: Vec<Span> = forgotten.map(Span::TenSeconds).collect();
    let missing = there.clone().find(|number| !known.contains(number));
    let made = match missing {
        Some(number) => make(history, Span::TenSeconds, number..there.end)?,
        None => Vec::new(),
    };
    if !made.is_empty() || !forgotten.is_empty() {
        file.write(&made, &forgotten)?;
    }
    Ok(Span::TenSeconds(there.end).range_ms()[0])
}

/// Returns the spans of ten seconds from a time on after which a history has a round: they are whole.
pub(super) fn whole_since(history: &History, from_ms: i64) -> Result<Range<i64>, StoreError> {
    let exact = history.exact_rounds_ns()?.map(|(first, last)| (first / 1_000_000, last / 1_000_000));
    Ok(exact.map_or(0..0, |(first_ms, last_ms)| whole_ten_seconds(from_ms.max(first_ms), last_ms - 1)))
}
