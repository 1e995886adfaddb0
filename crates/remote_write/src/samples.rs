//! The next samples behind a place in a history.

use std::path::Path;

use formats::series_name::SeriesName;
use query::STALE_BITS;
use store::{History, HistoryAtRest, Reading, StoreError};

use crate::selection::Selection;

/// About so many samples are read at once.
const MAX_SAMPLES: f64 = 20_000.0;
/// The length of history that is read at first, and the most; it grows where samples are rare.
const FIRST_NS: i64 = 10_000_000_000;
const MAX_NS: i64 = 3_600_000_000_000;

/// A series, as it goes out, and its next samples: milliseconds since 1970 and value, in the order of time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NextSamples {
    pub(crate) name: SeriesName,
    pub(crate) samples: Vec<(i64, f64)>,
}

/// What was read of a history.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) series: Vec<NextSamples>,
    /// Its end, in nanoseconds since 1970: the place behind it, once it is taken.
    pub(crate) to_ns: i64,
    /// Nothing is behind it yet.
    pub(crate) is_last: bool,
    /// The first tick of the history, in nanoseconds since 1970.
    pub(crate) first_ns: i64,
    /// Blocks that are damaged and were left out.
    pub(crate) damaged: u64,
    /// Recording rules that have no answer, and why.
    pub(crate) faults: Vec<String>,
}

/// Reads a history part by part.
#[derive(Debug)]
pub(crate) struct Reader {
    /// The length of the next part.
    length_ns: i64,
    /// The end of the last part, and the last tick before it.
    before: Option<(i64, i64)>,
    /// The history between two parts.
    pub(crate) kept: Option<HistoryAtRest>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { length_ns: FIRST_NS, before: None, kept: None }
    }

    /// Reads what is behind a place, up to `to_ns` if that is known, all in nanoseconds since 1970. `None`: there is nothing yet.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(crate) fn next(
        &mut self,
        path: &Path,
        selection: &mut Selection,
        (behind_ns, to_ns): (i64, Option<i64>),
        now_ns: i64,
    ) -> Result<Option<Part>, StoreError> {
        let history = HistoryAtRest::go_on_or_open(self.kept.take(), path)?;
        let part = self.read_next(&history, selection, (behind_ns, to_ns), now_ns)?;
        self.kept = history.rest().ok();
        Ok(part)
    }

    fn read_next(
        &mut self,
        history: &History,
        selection: &mut Selection,
        (behind_ns, to_ns): (i64, Option<i64>),
        now_ns: i64,
    ) -> Result<Option<Part>, StoreError> {
        let spans = history.spans()?;
        let Some(first_ns) = spans.iter().map(|(first_ns, _)| *first_ns).min() else { return Ok(None) };
        // Times in which nothing was recorded are gone over.
        let next =
            spans.iter().filter(|(_, last_ns)| *last_ns > behind_ns).map(|(first_ns, _)| *first_ns).min();
        let Some(next_ns) = next else { return Ok(None) };
        let from_ns = behind_ns.max(next_ns - 1);
        let last_ns = spans.iter().map(|(_, last_ns)| *last_ns).max().unwrap_or(now_ns);
        let recorded: Vec<&str> = history.series().into_iter().map(|(name, _)| name).collect();
        selection.update(&recorded);
        let series = selection.series();
        let names: Vec<&str> = series.iter().map(|(recorded, _)| recorded.as_str()).collect();
        let end_ns = to_ns.unwrap_or_else(|| from_ns.saturating_add(self.length_ns));
        let is_last = to_ns.is_none() && end_ns >= last_ns.min(now_ns);
        let mut samples: Vec<Vec<(i64, f64)>> = vec![Vec::new(); series.len()];
        // The last tick of the part before says which series may end at the first one of this, also behind a gap.
        let tick_ns =
            self.before.filter(|(end_ns, _)| *end_ns == behind_ns).map_or(behind_ns, |(_, tick_ns)| tick_ns);
        let mut newest_ns = None;
        // Ticks whose time is still to come were recorded before the clock was set back.
        let damaged =
            history.read_all(&names, tick_ns, end_ns.min(now_ns.max(from_ns + 1)), |place, reading| {
                let at_ns = reading.clock().realtime.0.cast_signed();
                if at_ns <= behind_ns {
                    return;
                }
                newest_ns = newest_ns.max(Some(at_ns));
                let value = match reading {
                    Reading::Sample(sample) => sample.value,
                    Reading::End(_) => f64::from_bits(STALE_BITS),
                };
                samples[place].push((at_ns / 1_000_000, value));
            })?;
        let count: usize = samples.iter().map(Vec::len).sum();
        // Time that is still to come has no samples.
        self.learn(count, end_ns.min(last_ns.min(now_ns)) - from_ns);
        // A tick, so that another agent knows the last one before its part as well. The next tick may be one that was read before now, and is
        // not written yet.
        let to_ns = newest_ns.or((!is_last).then_some(end_ns));
        let Some(to_ns) = to_ns else { return Ok(None) };
        // Not as far back as one likes: all of it is read again for each part.
        let last_tick_ns = newest_ns.unwrap_or(tick_ns.max(to_ns.saturating_sub(MAX_NS)));
        self.before = Some((to_ns, last_tick_ns));
        let series = series.iter().zip(samples).filter(|(_, samples)| !samples.is_empty());
        let series =
            series.map(|((_, name), samples)| NextSamples { name: name.clone(), samples: in_order(samples) });
        let series = series.collect();
        Ok(Some(Part { series, to_ns, is_last, first_ns, damaged, faults: Vec::new() }))
    }

    /// Chooses the length of the next part by how many samples this one had.
    fn learn(&mut self, count: usize, length_ns: i64) {
        if count == 0 || length_ns <= 0 {
            return;
        }
        // No more than twice as long: samples may come closer.
        let ratio = MAX_SAMPLES / count as f64;
        self.length_ns = ((length_ns as f64 * ratio.min(2.0)) as i64).clamp(FIRST_NS / 10, MAX_NS);
    }
}

/// Each time once, as receivers want it: where the clock was set back, the later sample counts.
fn in_order(mut samples: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    if samples.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return samples;
    }
    samples.reverse();
    samples.sort_by_key(|(at_ms, _)| *at_ms);
    samples.dedup_by_key(|(at_ms, _)| *at_ms);
    samples
}

#[cfg(test)]
mod tests {
    use facts::sample::Clock;
    use facts::unit::Nanos;
    use store::{Retention, SeriesKind, Store, Tick};

    use super::*;
    use crate::options::ReceiverOptions;

    #[test]
    fn each_time_is_there_once() {
        assert_eq!(in_order(vec![(1, 1.0), (2, 2.0)]), [(1, 1.0), (2, 2.0)]);
        assert_eq!(in_order(vec![(1, 1.0), (3, 3.0), (2, 2.0), (3, 4.0)]), [(1, 1.0), (2, 2.0), (3, 4.0)]);
    }

    /// A series that ends at the first tick of a part, also behind a gap, has a marker there.
    #[test]
    fn an_end_at_the_first_tick_of_a_part_is_marked() {
        const SECOND: i64 = 1_000_000_000;
        let directory = std::env::temp_dir().join(format!("whit-parts-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("history.sqlite");
        let mut store = Store::open(&path, Retention::default()).unwrap();
        let [stays, ends, ends_later] = ["a", "b", "c"].map(|name| store.series(name, SeriesKind::Gauge));
        // Ticks lie between whole seconds; after the tenth nothing is recorded for a minute.
        for second in (1..=10).chain(70..90) {
            let at = Nanos((second * SECOND + SECOND / 2).unsigned_abs());
            let clock = Clock { realtime: at, monotonic: at, boottime: at };
            let all = [(stays, 1.0), (ends, 1.0), (ends_later, 1.0)];
            let values: Vec<_> = all
                .into_iter()
                .filter(|(id, _)| (*id != ends || second < 5) && (*id != ends_later || second <= 10))
                .collect();
            store.append(&Tick { clock, boot_id: "boot", values: &values, tasks: None }).unwrap();
        }
        store.close().unwrap();
        let mut ends_at = Vec::new();
        let mut selection = Selection::new(&ReceiverOptions::of_everything());
        // The first part ends before the fifth tick.
        let (mut reader, mut place_ns) = (Reader { length_ns: 4 * SECOND, ..Reader::new() }, SECOND);
        while let Some(part) = reader.next(&path, &mut selection, (place_ns, None), 1000 * SECOND).unwrap() {
            place_ns = part.to_ns;
            for series in part.series {
                let is_end = |sample: &&(i64, f64)| sample.1.to_bits() == STALE_BITS;
                let ends = series.samples.iter().filter(is_end);
                ends_at.extend(ends.map(|(at_ms, _)| (series.name.to_string(), *at_ms)));
            }
        }
        assert_eq!(ends_at, [("b".to_owned(), 5_500), ("c".to_owned(), 70_500)]);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn parts_have_about_as_many_samples() {
        let mut reader = Reader::new();
        reader.learn(5_000, FIRST_NS);
        assert_eq!(reader.length_ns, 2 * FIRST_NS);
        reader.learn(200_000, FIRST_NS);
        assert_eq!(reader.length_ns, FIRST_NS / 10);
        reader.learn(0, FIRST_NS);
        assert_eq!(reader.length_ns, FIRST_NS / 10);
        for _ in 0..20 {
            reader.learn(1, reader.length_ns);
        }
        assert_eq!(reader.length_ns, MAX_NS);
    }
}
