//! What falls steadily, and will be gone: memory, room and inodes of filesystems.

use facts::unit::Nanos;
use query::QueryError;
use text::units::Span;

use super::rates::of_programs;
use super::words::{bytes, count};
use crate::why::examiner::{Examiner, Share};
use crate::why::finding::{Cost, Found, sentence};
use crate::why::matchers::quoted;
use crate::why::sentence::{Culprit, Evidence, Trouble};

/// The last parts of a window in which something is looked for, beside the whole, in seconds.
const LENGTHS_S: [i64; 2] = [240, 60];
/// Filesystems are read every ten seconds: in a shorter time their slope is that of two readings.
const MIN_OF_FILESYSTEMS_S: i64 = 240;
/// A trend is steady if that of each of so many parts of the time lies within these parts of it.
const PARTS: i64 = 4;
const STEADY: std::ops::RangeInclusive<f64> = 0.6..=1.6;
/// What was seen for a time says nothing of a time that is so many times as long.
const MAX_LENGTHS: f64 = 60.0;
/// What is gone in so many seconds costs as much as one second in each second.
const URGENT_S: f64 = 600.0;
/// The most filesystems that are examined.
const MAX_FILESYSTEMS: usize = 3;
/// A process that grew by a smaller part of what memory fell by does not explain it.
const MIN_PART: f64 = 0.5;

/// A series that falls steadily.
struct Trend {
    length_s: i64,
    /// How fast it falls, in each second: over all of the time, and in the slowest and the fastest part of it.
    speed: Evidence,
    slowest: f64,
    fastest: f64,
    left: Evidence,
}

impl Trend {
    /// Finds the longest time for which a series has fallen steadily up to the end of the window; `None` if there is none.
    fn find(examiner: &Examiner<'_>, series: &str, least_s: i64) -> Result<Option<Self>, QueryError> {
        let Some(left) = examiner.number(series)? else { return Ok(None) };
        let window_s = (examiner.window.to_ms - examiner.window.from_ms) / 1000;
        let lengths = [window_s].into_iter().chain(LENGTHS_S.into_iter().filter(|length| *length < window_s));
        for length_s in lengths.filter(|length| *length >= least_s) {
            if let Some(trend) = Self::over(examiner, series, length_s, &left)? {
                return Ok(Some(trend));
            }
        }
        Ok(None)
    }

    fn over(
        examiner: &Examiner<'_>,
        series: &str,
        length_s: i64,
        left: &Evidence,
    ) -> Result<Option<Self>, QueryError> {
        let Some(speed) = examiner.number(&format!("-deriv({series}[{length_s}s])"))? else {
            return Ok(None);
        };
        if speed.value <= 0.0 || left.value / speed.value > length_s as f64 * MAX_LENGTHS {
            return Ok(None);
        }
        let part_s = length_s / PARTS;
        let (mut slowest, mut fastest) = (f64::INFINITY, 0.0_f64);
        for part in 0..PARTS {
            let offset = if part == 0 { String::new() } else { format!(" offset {}s", part * part_s) };
            let expression = format!("-deriv({series}[{part_s}s]{offset})");
            let Some(of_part) = examiner.number(&expression)? else { return Ok(None) };
            if !STEADY.contains(&(of_part.value / speed.value)) {
                return Ok(None);
            }
            (slowest, fastest) = (slowest.min(of_part.value), fastest.max(of_part.value));
        }
        Ok(Some(Self { length_s, speed, slowest, fastest, left: left.clone() }))
    }

    /// In how many seconds nothing is left.
    fn time_left_s(&self) -> f64 {
        self.left.value / self.speed.value
    }

    fn cost(&self) -> Cost {
        Cost::Within(URGENT_S / self.time_left_s().max(1.0))
    }

    /// Its words, after what falls.
    fn words(&self, write: impl Fn(f64) -> String) -> String {
        let span = |seconds: f64| Span(Nanos((seconds * 1e9) as u64));
        format!(
            "fell steadily for {} by {} in each second (in each quarter of that time by {} to {}): at this rate the {} that are left are gone in {}",
            span(self.length_s as f64),
            write(self.speed.value),
            write(self.slowest),
            write(self.fastest),
            write(self.left.value),
            span(self.time_left_s()),
        )
    }
}

/// Memory that falls steadily, and the process that grows as fast.
pub(super) fn memory(examiner: &Examiner<'_>) -> Found {
    let Some(trend) = Trend::find(examiner, "node_memory_MemAvailable_bytes", LENGTHS_S[1])? else {
        return Ok(None);
    };
    let length_s = trend.length_s;
    let fell = trend.speed.value * length_s as f64;
    let grew = |what: &str| examiner.number(&format!("delta({what}[{length_s}s])"));
    let is_most = |growth: &Evidence| growth.value >= fell * MIN_PART;
    // Resident memory has files in it, which can be dropped: who grew is only named if anonymous memory did.
    let anonymous = grew("node_memory_AnonPages_bytes")?.filter(is_most);
    let shared = grew("node_memory_Shmem_bytes")?.filter(is_most);
    let grown = match anonymous {
        Some(_) => grown(examiner, length_s, fell * MIN_PART)?,
        None => None,
    };
    let who = match (&grown, &shared) {
        (Some(share), _) => format!("; {} grew by {} meanwhile", share.label(), bytes(share.value)),
        (None, Some(shared)) => {
            format!("; shared memory and tmpfs grew by {} meanwhile", bytes(shared.value))
        }
        (None, None) => String::new(),
    };
    let text = format!("Available memory {}{who}.", trend.words(bytes));
    let culprit = grown.as_ref().and_then(Share::culprit);
    let cost = trend.cost();
    let reason = grown.map(|share| share.evidence).or(shared);
    let evidence = [trend.speed, trend.left].into_iter().chain(reason);
    Ok(Some(sentence(Trouble::Trend, cost, text, culprit, evidence)))
}

/// The process that grew by so much at least, or else the processes of one name that did together.
fn grown(examiner: &Examiner<'_>, length_s: i64, least: f64) -> Result<Option<Share>, QueryError> {
    for labels in ["comm, pid", "comm"] {
        let growth = format!("topk(1, sum by ({labels}) (delta(whit_task_resident_bytes[{length_s}s])))");
        if let Some(share) = examiner.first(&growth)?.filter(|share| share.value >= least) {
            return Ok(Some(share));
        }
    }
    Ok(None)
}

/// Filesystems whose room falls steadily, that which is full first.
pub(super) fn room(examiner: &Examiner<'_>) -> Found {
    of_filesystems(examiner, "node_filesystem_avail_bytes", "Room", bytes)
}

/// Filesystems whose free inodes fall steadily.
pub(super) fn inodes(examiner: &Examiner<'_>) -> Found {
    of_filesystems(examiner, "node_filesystem_files_free", "The number of free inodes", count)
}

fn of_filesystems(examiner: &Examiner<'_>, metric: &str, what: &str, write: impl Fn(f64) -> String) -> Found {
    let fastest =
        format!("topk({MAX_FILESYSTEMS}, -deriv({metric}[{MIN_OF_FILESYSTEMS_S}s]) / ({metric} > 0))");
    let mut worst: Option<(Trend, String)> = None;
    for share in examiner.several(&fastest)?.into_iter().filter(|share| share.value > 0.0) {
        let mount = share.name.get("mountpoint").to_owned();
        let series = format!("{metric}{{mountpoint={}}}", quoted(&mount));
        let Some(trend) = Trend::find(examiner, &series, MIN_OF_FILESYSTEMS_S)? else { continue };
        if worst.as_ref().is_none_or(|(other, _)| trend.time_left_s() < other.time_left_s()) {
            worst = Some((trend, mount));
        }
    }
    let Some((trend, mount)) = worst else { return Ok(None) };
    let writer = examiner.who(&[&of_programs("increase", "whit_task_written_bytes_total")])?;
    // Where it wrote is not recorded, nor what tasks do that are not seen.
    let writer = writer.filter(|share| share.value > 1e6 && examiner.sees_all);
    let who = writer.as_ref().map_or(String::new(), |share| {
        format!("; probably for {}, which wrote most on this machine, {}", share.label(), bytes(share.value))
    });
    let text = format!("{what} on {mount} {}{who}.", trend.words(write));
    let culprit = writer.as_ref().and_then(Share::culprit).or(Some(Culprit::Filesystem(mount)));
    let cost = trend.cost();
    let evidence = [trend.speed, trend.left].into_iter().chain(writer.map(|share| share.evidence));
    Ok(Some(sentence(Trouble::Trend, cost, text, culprit, evidence)))
}

#[cfg(test)]
mod tests;
