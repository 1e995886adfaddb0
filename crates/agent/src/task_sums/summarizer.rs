//! Makes the sums of minutes that are over, in a thread of its own.

use std::ops::Range;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use store::{History, StoreError};

use super::MINUTE_MS;
use super::boots::Boots;
use super::file::{SumsFile, whole_minutes};
use super::minute::{MinuteBuilder, MinuteSums};
use crate::log::Log;

/// Between two looks at the clock.
const PAUSE: Duration = Duration::from_secs(5);
/// A pause is so many times as long as what was done before it.
const PAUSE_RATIO: u32 = 30;
/// A minute is made so long after its end at the earliest.
const SETTLED_MS: i64 = 5_000;
/// The most minutes that have sums: a week. Older questions are rare, and answered by a replay.
const MOST_MINUTES: i64 = 10_080;
/// Minutes that are made at a time: of a history without sums, one such part at each look.
const MINUTES_AT_ONCE: usize = 5;

/// The thread. It ends with the process.
pub(crate) struct Summarizer {
    history: PathBuf,
    file: Option<SumsFile>,
    /// The time of the last look. An earlier one after it means that the clock was set.
    last_ms: i64,
    /// All minutes before this one that can be made are.
    filled_until: Option<i64>,
}

impl Summarizer {
    /// Begins. The history is that of a data directory that this agent has locked.
    pub(crate) fn start(history: PathBuf) -> std::io::Result<()> {
        std::thread::Builder::new().name("sums".to_owned()).spawn(move || {
            let mut log = Log::open();
            let mut summarizer = Self::of(history);
            let mut pause = PAUSE;
            loop {
                std::thread::sleep(pause);
                let begun = Instant::now();
                let done = summarizer.look(Timestamp::now().as_millisecond());
                pause = PAUSE.max(begun.elapsed() * PAUSE_RATIO);
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
        if is_in_place && self.filled_until == Some(end) && !was_set_back {
            self.last_ms = now_ms;
            return Ok(());
        }
        self.filled_until = None;
        let history = History::open(&self.history)?;
        if !is_in_place {
            self.file = Some(SumsFile::take(&self.history, &Boots::of(&history)?)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let there = minutes_of(&history)?;
        let there = there.start..there.end.min(end);
        let known = file.minutes(i64::MIN..i64::MAX)?;
        // Those that are not over after all, since the clock was set, among them: now, or while none looked.
        let forgotten: Vec<i64> = known.iter().copied().filter(|minute| !there.contains(minute)).collect();
        let missing: Vec<i64> = there.filter(|minute| known.binary_search(minute).is_err()).collect();
        let run = last_run(&missing);
        let made = match (run.first(), run.last()) {
            (Some(oldest), Some(newest)) => make(&history, *oldest, *newest)?,
            _ => Vec::new(),
        };
        file.write(&made, &forgotten)?;
        self.last_ms = now_ms;
        self.filled_until = Some(end).filter(|_| run.len() == missing.len());
        Ok(())
    }
}

/// The minutes that a history has rounds of tasks of as they were recorded, not too many of them.
pub(super) fn minutes_of(history: &History) -> Result<Range<i64>, StoreError> {
    let Some((first_ns, last_ns)) = history.exact_rounds_ns()? else { return Ok(0..0) };
    let whole = whole_minutes(first_ns / 1_000_000, last_ns / 1_000_000);
    Ok(whole.start.max(whole.end.saturating_sub(MOST_MINUTES))..whole.end)
}

/// The last of some minutes, as far as they follow one another.
fn last_run(minutes: &[i64]) -> &[i64] {
    let run = minutes.chunk_by(|one, next| *next == one + 1).next_back().unwrap_or_default();
    &run[run.len().saturating_sub(MINUTES_AT_ONCE)..]
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
    let boots = Boots::of(history)?;
    Ok((oldest..).zip(builders.into_iter().map(|builder| builder.finish(&boots))).collect())
}

/// Makes the sums of all whole minutes of a history, as the thread would.
#[cfg(test)]
pub(crate) fn make_all(history: &Path) {
    remake_all(history, |_| {});
}

/// The same, and changes each.
#[cfg(test)]
pub(crate) fn remake_all(history: &Path, change: impl Fn(&mut MinuteSums)) {
    let opened = History::open(history).unwrap();
    let mut file = SumsFile::take(history, &Boots::of(&opened).unwrap()).unwrap();
    let minutes = minutes_of(&opened).unwrap();
    let mut made = make(&opened, minutes.start, minutes.end - 1).unwrap();
    made.iter_mut().for_each(|(_, sums)| change(sums));
    file.write(&made, &[]).unwrap();
}
