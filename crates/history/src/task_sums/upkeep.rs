//! Upkeep of sums while no agent makes them.

use std::path::Path;

use facts::task::figure::FigureSet;
use store::{History, StoreError};

use super::boots::Boots;
use super::file::SumsFile;
use super::recent::whole_since;
use super::replay::make;
use super::span::{Span, whole_hours};
use super::span_sums::SpanSums;
use super::summarizer::{make_hour, merged, minutes_of, missing_hours, not_there};

/// Minutes that are replayed at once: before each replay some others are read for nothing.
const MINUTES_AT_ONCE: usize = 30;
/// Findings after which no more are listed.
const MAX_FINDINGS: usize = 20;

/// Makes the sums that are missing beside a history, and forgets those of minutes that it does not have any more.
///
/// # Errors
/// If they cannot be made.
pub fn fill(path: &Path) -> Result<(), StoreError> {
    let history = History::open(path)?;
    let boots = Boots::of(&history)?;
    let mut file = SumsFile::take(path, &boots)?;
    let there = minutes_of(&history)?;
    let forgotten = not_there(&file, &there)?;
    file.write(&[], &forgotten)?;
    let mut known = file.minutes(i64::MIN..i64::MAX)?;
    // What cannot be read, or is another history's, is made again.
    let is_of_several_or_own = |boot: Option<u32>| boot.is_none_or(|boot| boots.contains(boot));
    let is_good = |sums: SpanSums| is_of_several_or_own(sums.groups.boot);
    known.retain(|minute| {
        file.sums(Span::Minute(*minute), FigureSet::COUNTERS).is_ok_and(|sums| sums.is_some_and(is_good))
    });
    let missing: Vec<i64> = there.clone().filter(|minute| known.binary_search(minute).is_err()).collect();
    for run in runs(&missing) {
        file.write(&make(&history, Span::Minute, run[0]..run[run.len() - 1] + 1)?, &[])?;
    }
    let is_damaged = |hour: &i64| !matches!(file.sums(Span::Hour(*hour), FigureSet::COUNTERS), Ok(Some(_)));
    let mut hours: Vec<i64> = file.hours(0..i64::MAX)?.into_iter().filter(is_damaged).collect();
    hours.extend(missing_hours(&file, &there)?);
    hours.into_iter().try_for_each(|hour| make_hour(&mut file, hour))
}

/// Makes all sums beside a history again, and returns where they differ from those that are there. Those of rounds that were
/// merged since, which are not read, are left out.
///
/// # Errors
/// If the history cannot be read.
pub fn check(path: &Path) -> Result<Vec<String>, StoreError> {
    let file = match SumsFile::open_for_reading(path) {
        Ok(file) => file,
        Err(_) if !SumsFile::is_beside(path) => return Ok(Vec::new()),
        Err(error) => return Ok(vec![format!("sums of tasks: {error}")]),
    };
    let history = History::open(path)?;
    let (there, recent) = (minutes_of(&history)?, whole_since(&history, 0)?);
    drop(history);
    let mut findings = Vec::new();
    // The round before the first one is not there any more.
    let mut is_first = true;
    for hour in file.hours(whole_hours(&there))? {
        let expected = merged(&file, hour)?;
        match file.sums(Span::Hour(hour), FigureSet::COUNTERS)? {
            None => findings.push(finding("hour", Span::Hour(hour), "are damaged")),
            sums if expected.is_some() && sums != expected => {
                findings.push(finding("hour", Span::Hour(hour), "are not those of its minutes"));
            }
            Some(_) => {}
        }
    }
    let minutes = file.minutes(there)?;
    let ten_seconds = file.ten_seconds(recent)?;
    let minutes = runs(&minutes).map(|run| (Span::Minute as fn(i64) -> Span, "minute", run));
    let ten_seconds = runs(&ten_seconds).map(|run| (Span::TenSeconds as fn(i64) -> Span, "ten seconds", run));
    for (kind, name, run) in minutes.chain(ten_seconds) {
        // An open history keeps the log of its database from being reused.
        let history = History::open(path)?;
        for (span, made) in make(&history, kind, run[0]..run[run.len() - 1] + 1)? {
            let is_comparable = !is_first;
            is_first &= made.groups.times_ms.is_empty();
            let what = match file.sums(span, FigureSet::COUNTERS)? {
                None => "are damaged",
                Some(sums)
                    if is_comparable && sums.groups.times_ms == made.groups.times_ms && sums != made =>
                {
                    "are not those of its ticks"
                }
                Some(_) => continue,
            };
            findings.push(finding(name, span, what));
        }
        if findings.len() >= MAX_FINDINGS {
            break;
        }
    }
    findings.truncate(MAX_FINDINGS);
    Ok(findings)
}

fn finding(kind: &str, span: Span, what: &str) -> String {
    format!("sums of tasks: those of the {kind} {} s after 1970 {what}", span.range_ms()[0] / 1000)
}

/// Minutes that follow one another, not too many at a time.
fn runs(minutes: &[i64]) -> impl Iterator<Item = &[i64]> {
    minutes.chunk_by(|one, next| *next == one + 1).flat_map(|run| run.chunks(MINUTES_AT_ONCE))
}
