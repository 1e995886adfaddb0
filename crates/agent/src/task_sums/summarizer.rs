//! Makes the sums of minutes that are over, in a thread of its own.

#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use store::{History, StoreError};

use super::MINUTE_MS;
use super::file::{SumsFile, whole_minutes};
use super::minute::{MinuteBuilder, MinuteSums};
use crate::log::Log;

/// Between two looks at the clock.
const PAUSE: Duration = Duration::from_secs(5);
/// So long after its end a minute is in the history, if it can be written at all.
const SETTLED_MS: i64 = 5_000;
/// Minutes that are made at a time: of a history without sums, one such part at each look.
const MINUTES_AT_ONCE: usize = 5;

/// The thread. It ends with the process.
pub(crate) struct Summarizer {
    history: PathBuf,
    file: Option<SumsFile>,
    /// The time of the last look. An earlier one after it means that the clock was set.
    last_ms: i64,
    /// No minute before this one lacks sums.
    filled_until: Option<i64>,
}

impl Summarizer {
    /// Begins. The history is that of a data directory that this agent has locked.
    pub(crate) fn start(history: PathBuf) -> std::io::Result<()> {
        std::thread::Builder::new().name("sums".to_owned()).spawn(move || {
            let mut log = Log::open();
            let mut summarizer = Self::of(history);
            loop {
                std::thread::sleep(PAUSE);
                let done = summarizer.look(now_ms());
                let fault = done.err().map(|error| format!("sums of tasks: {error}; questions take longer"));
                log.fault("sums of tasks", fault);
            }
        })?;
        Ok(())
    }

    pub(crate) fn of(history: PathBuf) -> Self {
        Self { history, file: None, last_ms: i64::MIN, filled_until: None }
    }

    /// Makes what is missing, a part of it at a time, the newest minutes first.
    pub(crate) fn look(&mut self, now_ms: i64) -> Result<(), StoreError> {
        let last_ms = std::mem::replace(&mut self.last_ms, now_ms);
        let end = (now_ms - SETTLED_MS).div_euclid(MINUTE_MS);
        let is_in_place = self.file.as_ref().is_some_and(SumsFile::is_in_place);
        if is_in_place && self.filled_until == Some(end) && now_ms >= last_ms {
            return Ok(());
        }
        self.filled_until = None;
        if !is_in_place {
            self.file = Some(SumsFile::take(&self.history)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let known = file.minutes()?;
        if now_ms < last_ms {
            // The minutes from now on are not over after all.
            let wrong: Vec<i64> = known.into_iter().filter(|minute| *minute >= end).collect();
            return file.write(&[], &wrong);
        }
        let history = History::open(&self.history)?;
        let Some((first_ns, last_ns)) = history.extent()?.realtime_ns else { return Ok(()) };
        // What is not recorded yet is no part of its minute.
        let there = whole_minutes(first_ns / 1_000_000, last_ns / 1_000_000);
        let missing: Vec<i64> =
            (there.start..end.min(there.end)).filter(|minute| known.binary_search(minute).is_err()).collect();
        let is_of_run =
            |place: &usize| missing[missing.len() - 1 - place] == missing[missing.len() - 1] - *place as i64;
        let count = (0..missing.len().min(MINUTES_AT_ONCE)).take_while(is_of_run).count();
        let run = &missing[missing.len() - count..];
        if let (Some(oldest), Some(newest)) = (run.first(), run.last()) {
            let forgotten: Vec<i64> = known.into_iter().filter(|minute| *minute < there.start).collect();
            file.write(&make(&history, *oldest, *newest)?, &forgotten)?;
        }
        self.filled_until = Some(end).filter(|_| count == missing.len());
        Ok(())
    }
}

/// Makes the sums of some minutes, both included, by one replay.
pub(super) fn make(
    history: &History,
    oldest: i64,
    newest: i64,
) -> Result<Vec<(i64, MinuteSums)>, StoreError> {
    let (from_ms, to_ms) = (oldest * MINUTE_MS, (newest + 1) * MINUTE_MS);
    let mut replay = history.tasks(from_ms * 1_000_000, to_ms * 1_000_000 - 1)?;
    // Not one after the other: the clock may have been set.
    let mut builders: Vec<MinuteBuilder> = (oldest..=newest).map(|_| MinuteBuilder::default()).collect();
    while replay.advance()? {
        let at_ms = replay.round().clock.realtime.0.cast_signed() / 1_000_000;
        let place = usize::try_from(at_ms.div_euclid(MINUTE_MS) - oldest).unwrap_or(usize::MAX);
        if let Some(builder) = builders.get_mut(place) {
            builder.add(at_ms, &mut replay)?;
        }
    }
    Ok((oldest..).zip(builders.into_iter().map(MinuteBuilder::finish)).collect())
}

fn now_ms() -> i64 {
    let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

/// Makes the sums of all whole minutes of a history, as the thread would.
#[cfg(test)]
pub(crate) fn make_all(history: &Path) {
    remake_all(history, |_| {});
}

/// The same, and changes each.
#[cfg(test)]
pub(crate) fn remake_all(history: &Path, change: impl Fn(&mut MinuteSums)) {
    let mut file = SumsFile::take(history).unwrap();
    let opened = History::open(history).unwrap();
    let (first_ns, last_ns) = opened.extent().unwrap().realtime_ns.unwrap();
    let minutes = whole_minutes(first_ns / 1_000_000, last_ns / 1_000_000);
    let mut made = make(&opened, minutes.start, minutes.end - 1).unwrap();
    made.iter_mut().for_each(|(_, sums)| change(sums));
    file.write(&made, &[]).unwrap();
}
