//! Makes the sums of minutes that are over, in a thread of its own.

use std::ops::Range;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use facts::task::figure::FigureSet;
use facts::unit::Nanos;
use jiff::Timestamp;
use store::{History, StoreError};

use super::boots::Boots;
use super::file::SumsFile;
use super::hour::HourBuilder;
use super::recent::make_recent;
use super::replay::make;
use super::span::{MINUTE_MS, Span, whole_hours, whole_minutes};
use super::span_sums::SpanSums;

/// Between two looks at the clock.
const PAUSE: Duration = Duration::from_secs(5);
/// A pause is so many times as long as what was done before it.
const PAUSE_RATIO: u32 = 30;
/// A minute is made so long after its end at the earliest.
const SETTLED_MS: i64 = 5_000;
/// A tick is in the history so long after its time, most often.
const RECORDED_MS: i64 = 1_500;
/// If it takes so much CPU time to make the sums of a minute, the next ones are divided: a machine whose minutes are read in less has no use for more
/// sums.
const COSTLY: Nanos = Nanos(20_000_000);
/// The most minutes that have sums: a week. Older questions are rare, and answered by a replay.
const MAX_MINUTES: i64 = 10_080;
/// Minutes that are made at a time: of a history without sums, one such part at each look.
const MINUTES_AT_ONCE: usize = 5;

/// The thread. It ends with the process.
pub struct Summarizer {
    history: PathBuf,
    file: Option<SumsFile>,
    /// The time of the last look. An earlier one after it means that the clock was set.
    last_ms: i64,
    /// All minutes before this one that can be made are.
    filled_until: Option<i64>,
    /// The sums of the last minute took long to make.
    pub(crate) is_costly: bool,
    /// Until when the minutes without sums have sums of ten seconds, in milliseconds since 1970.
    recent_until_ms: Option<i64>,
}

impl Summarizer {
    /// Starts the thread. The history is that of a data directory that this agent has locked. After each look `report` gets what went wrong.
    ///
    /// # Errors
    /// If no thread can be made.
    pub fn start(
        history: PathBuf,
        mut report: impl FnMut(Option<String>) + Send + 'static,
    ) -> std::io::Result<()> {
        std::thread::Builder::new().name("sums".to_owned()).spawn(move || {
            let mut summarizer = Self::of(history);
            let mut pause = PAUSE;
            loop {
                std::thread::sleep(pause);
                let begun = Instant::now();
                let done = summarizer.look(Timestamp::now().as_millisecond());
                let now_ms = Timestamp::now().as_millisecond();
                pause = summarizer.pause_before(now_ms).max(begun.elapsed() * PAUSE_RATIO);
                let fault = done.err().map(|error| format!("sums of tasks: {error}; questions take longer"));
                report(fault);
            }
        })?;
        Ok(())
    }

    pub(crate) fn of(history: PathBuf) -> Self {
        Self {
            history,
            file: None,
            last_ms: i64::MIN,
            filled_until: None,
            is_costly: false,
            recent_until_ms: None,
        }
    }

    /// Returns how long to wait for the next look: no longer than until a minute has settled, or the next ten seconds are recorded.
    fn pause_before(&self, now_ms: i64) -> Duration {
        let until = |settled_ms: i64, span: Span| {
            let since_ms = (now_ms - settled_ms).rem_euclid(span.length_ms());
            Duration::from_millis((span.length_ms() - since_ms) as u64)
        };
        let minute = PAUSE.min(until(SETTLED_MS, Span::Minute(0)));
        if self.is_costly { minute.min(until(RECORDED_MS, Span::TenSeconds(0))) } else { minute }
    }

    /// Makes what is missing, a part of it at a time, the newest minutes first.
    pub(crate) fn look(&mut self, now_ms: i64) -> Result<(), StoreError> {
        let looked = self.try_look(now_ms);
        if looked.as_ref().is_err_and(StoreError::is_damage) {
            // It is made anew.
            self.file = None;
            SumsFile::remove(&self.history);
        }
        looked
    }

    fn try_look(&mut self, now_ms: i64) -> Result<(), StoreError> {
        let end = (now_ms - SETTLED_MS).div_euclid(MINUTE_MS);
        let is_in_place = self.file.as_ref().is_some_and(SumsFile::is_in_place);
        let was_set_back = now_ms < self.last_ms;
        let is_filled = is_in_place && self.filled_until == Some(end) && !was_set_back;
        if is_filled && !self.are_ten_seconds_due(now_ms) {
            self.last_ms = now_ms;
            return Ok(());
        }
        let history = History::open(&self.history)?;
        if !is_in_place {
            self.file = Some(SumsFile::take(&self.history, &Boots::of(&history)?)?);
        }
        if !is_filled {
            (self.filled_until, self.recent_until_ms) = (None, None);
            self.make_minutes(&history, end)?;
        }
        if let Some(file) = &mut self.file {
            let first = self.filled_until.filter(|_| self.is_costly);
            let until_ms = make_recent(&history, file, first)?;
            self.recent_until_ms = first.map(|_| until_ms);
        }
        self.last_ms = now_ms;
        Ok(())
    }

    fn are_ten_seconds_due(&self, now_ms: i64) -> bool {
        let length_ms = Span::TenSeconds(0).length_ms();
        let is_due = |until_ms: i64| until_ms + length_ms + RECORDED_MS <= now_ms;
        self.is_costly && self.recent_until_ms.is_none_or(is_due)
    }

    fn make_minutes(&mut self, history: &History, end: i64) -> Result<(), StoreError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let there = minutes_of(history)?;
        let there = there.start..there.end.min(end);
        let known = file.minutes(i64::MIN..i64::MAX)?;
        let forgotten = not_there(file, &there)?;
        let missing: Vec<i64> = there.clone().filter(|minute| known.binary_search(minute).is_err()).collect();
        let run = last_run(&missing);
        let begun = probe::own_thread_cpu_time();
        let made = match (run.first(), run.last()) {
            (Some(oldest), Some(newest)) => make(history, Span::Minute, *oldest..newest + 1)?,
            _ => Vec::new(),
        };
        if !made.is_empty() {
            let cost = probe::own_thread_cpu_time().saturating_sub(begun);
            // One that is about as costly as this is divided or not for long.
            let least = if self.is_costly { COSTLY.0 / 2 } else { COSTLY.0 };
            self.is_costly = cost.0 / made.len() as u64 > least;
        }
        file.write(&made, &forgotten)?;
        let mut hours = missing_hours(file, &there)?;
        if let Some(hour) = hours.pop() {
            make_hour(file, hour)?;
        }
        let is_all = run.len() == missing.len() && hours.is_empty();
        self.filled_until = Some(end).filter(|_| is_all);
        Ok(())
    }
}

/// Returns what has sums and is not among these minutes. What is not over after all, since the clock was set, may be: now, or while none looked.
pub(super) fn not_there(file: &SumsFile, there: &Range<i64>) -> Result<Vec<Span>, StoreError> {
    let minutes = file.minutes(i64::MIN..i64::MAX)?.into_iter().map(Span::Minute);
    let hours = file.hours(0..i64::MAX)?.into_iter().map(Span::Hour);
    let is_there = |span: &Span| {
        let minutes = span.minutes();
        there.start <= minutes.start && minutes.end <= there.end
    };
    Ok(minutes.chain(hours).filter(|span| !is_there(span)).collect())
}

/// Returns the hours that have no sums although all of their minutes have some, in order.
pub(super) fn missing_hours(file: &SumsFile, there: &Range<i64>) -> Result<Vec<i64>, StoreError> {
    let (hours, minutes) = (whole_hours(there), file.minutes(there.clone())?);
    let known = file.hours(hours.clone())?;
    let has_all = |hour: &i64| {
        let of_hour = Span::Hour(*hour).minutes();
        let begin = minutes.partition_point(|minute| *minute < of_hour.start);
        let end = minutes.partition_point(|minute| *minute < of_hour.end);
        (end - begin) as i64 == of_hour.end - of_hour.start
    };
    Ok(hours.filter(|hour| known.binary_search(hour).is_err()).filter(has_all).collect())
}

/// Returns the sums of an hour by those of its minutes; `None` if these cannot be merged.
pub(super) fn merged(file: &SumsFile, hour: i64) -> Result<Option<SpanSums>, StoreError> {
    let mut builder = HourBuilder::default();
    for minute in Span::Hour(hour).minutes() {
        match file.sums(Span::Minute(minute), FigureSet::COUNTERS)? {
            Some(sums) => builder.add(sums),
            None => return Ok(None),
        }
    }
    Ok(builder.finish())
}

/// Makes the sums of an hour. One that cannot be merged has sums of nothing, which are of no use and are not made again.
pub(super) fn make_hour(file: &mut SumsFile, hour: i64) -> Result<(), StoreError> {
    let sums = merged(file, hour)?.unwrap_or_else(SpanSums::unusable);
    file.write(&[(Span::Hour(hour), sums)], &[])
}

/// The minutes that a history has rounds of tasks of as they were recorded, not too many of them.
pub(super) fn minutes_of(history: &History) -> Result<Range<i64>, StoreError> {
    let Some((first_ns, last_ns)) = history.exact_rounds_ns()? else { return Ok(0..0) };
    let whole = whole_minutes(first_ns / 1_000_000, last_ns / 1_000_000);
    Ok(whole.start.max(whole.end.saturating_sub(MAX_MINUTES))..whole.end)
}

/// The last of some minutes, as far as they follow one another.
fn last_run(minutes: &[i64]) -> &[i64] {
    let run = minutes.chunk_by(|one, next| *next == one + 1).next_back().unwrap_or_default();
    &run[run.len().saturating_sub(MINUTES_AT_ONCE)..]
}

/// Makes the sums of all whole minutes of a history, as the thread would.
#[cfg(test)]
pub(crate) fn make_all(history: &Path) {
    remake_all(history, |_| {});
}

/// Changes the sums of some spans.
#[cfg(test)]
pub(crate) fn change(history: &Path, spans: impl Fn(&SumsFile) -> Vec<Span>, change: impl Fn(&mut SpanSums)) {
    let mut file = SumsFile::take(history, &Boots::of(&History::open(history).unwrap()).unwrap()).unwrap();
    for span in spans(&file) {
        let mut sums = file.sums(span, FigureSet::COUNTERS).unwrap().unwrap();
        change(&mut sums);
        file.write(&[(span, sums)], &[]).unwrap();
    }
}

/// Makes all sums again, and changes each.
#[cfg(test)]
pub(crate) fn remake_all(history: &Path, change: impl Fn(&mut SpanSums)) {
    let opened = History::open(history).unwrap();
    let mut file = SumsFile::take(history, &Boots::of(&opened).unwrap()).unwrap();
    let minutes = minutes_of(&opened).unwrap();
    let mut made = make(&opened, Span::Minute, minutes.clone()).unwrap();
    made.iter_mut().for_each(|(_, sums)| change(sums));
    file.write(&made, &[]).unwrap();
    for hour in missing_hours(&file, &minutes).unwrap() {
        make_hour(&mut file, hour).unwrap();
    }
}
