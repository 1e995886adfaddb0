//! Series that are built round by round.

use std::hash::Hash;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};
use formats::series_name::SeriesName;
use query::{STALE_BITS, Samples, Series};

/// The most by which extrapolation multiplies an increase, less 1, times the intervals between samples: a little more than 1.1 at each end.
const MOST_EXTRAPOLATED: f64 = 3.0;

/// Series by what distinguishes them.
#[derive(Debug)]
pub(super) struct TaskLines<K> {
    places: HashMap<K, usize>,
    /// The places of lines by name. Different lines may read alike: two names that are not UTF-8, two cgroups whose paths are not known.
    named: HashMap<SeriesName, usize>,
    lines: Vec<Line<K>>,
    times_ms: Vec<i64>,
    /// Only the growth of each is wanted, from the first round or the second one.
    has_one_window: bool,
}

#[derive(Debug)]
struct Line<K> {
    key: K,
    /// `None`: no other key has the same name, which is written when it is needed.
    name: Option<SeriesName>,
    /// The sum of what was added. An integer: its rounding does not depend on the order of tasks.
    sum: u64,
    changes: Vec<(u32, f64)>,
}

impl<K> Line<K> {
    /// Returns what it grew by between its first and its last sample.
    fn increase(&self) -> f64 {
        let ends = self.changes.first().zip(self.changes.last());
        ends.map_or(0.0, |((_, first), (_, last))| last - first)
    }
}

impl<K: Hash + Eq + Copy> TaskLines<K> {
    /// No series. `has_one_window`: only what each has grown by is wanted, from the first round or, where that lies on the edge of the
    /// window, from the second one.
    pub(super) fn new(has_one_window: bool) -> Self {
        Self {
            places: HashMap::new(),
            named: HashMap::new(),
            lines: Vec::new(),
            times_ms: Vec::new(),
            has_one_window,
        }
    }

    /// Begins a round. Times rise, even if the clock was set back.
    pub(super) fn begin(&mut self, at_ms: i64) {
        let at_ms = self.times_ms.last().map_or(at_ms, |last| at_ms.max(last + 1));
        self.times_ms.push(at_ms);
    }

    /// How many series there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the series of a key, if it exists.
    pub(super) fn known(&self, key: &K) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// Adds the series of a new key, or returns that of another key with the same name. `name` is `None` if no other key can have the
    /// same. The series is 0 before, from the first round on, if `is_padded`.
    pub(super) fn add_key(&mut self, key: K, is_padded: bool, name: Option<SeriesName>) -> usize {
        let place = self.lines.len();
        let known = name.as_ref().map(|name| *self.named.entry(name.clone()).or_insert(place));
        if known.is_none_or(|known| known == place) {
            let mut changes = Vec::with_capacity(2);
            changes.extend(is_padded.then_some((0, 0.0)));
            self.lines.push(Line { key, name, sum: 0, changes });
        }
        let place = known.unwrap_or(place);
        self.places.insert(key, place);
        place
    }

    /// Adds to a series in this round. `value` converts its sum.
    pub(super) fn add(&mut self, line: usize, growth: u64, value: impl Fn(u64) -> f64) {
        let sum = self.lines[line].sum.saturating_add(growth);
        self.lines[line].sum = sum;
        self.set(line, value(sum));
    }

    /// In this round a series has a value.
    pub(super) fn set(&mut self, line: usize, value: f64) {
        let round = (self.times_ms.len() - 1) as u32;
        let line = &mut self.lines[line];
        match line.changes.last_mut() {
            Some((last_round, last)) if *last_round == round => *last = value,
            Some((_, last)) if last.to_bits() == value.to_bits() => {}
            // Between the ends nothing is asked for.
            Some(last) if self.has_one_window && last.0 > 1 => *last = (round, value),
            _ => line.changes.push((round, value)),
        }
    }

    /// In this round a series is not there any more.
    pub(super) fn end(&mut self, line: usize) {
        self.set(line, f64::from_bits(STALE_BITS));
    }

    /// Returns what the `count` largest rates after `from_ms` and until `to_ms` have grown by at least; `None` if that is not known, so that
    /// all are wanted. All counters have a sample in each round, so that their rates differ from their increases by extrapolation alone.
    pub(super) fn least_of_largest(&self, count: usize, from_ms: i64, to_ms: i64) -> Option<f64> {
        // Otherwise some samples are not in the range, so that something else is the increase in it.
        let is_within = match self.times_ms[..] {
            [first, .., last] => first > from_ms && last <= to_ms,
            _ => false,
        };
        if !is_within || count == 0 || self.lines.len() < count {
            return None;
        }
        let mut increases: Vec<f64> = self.lines.iter().map(Line::increase).collect();
        let (_, least, _) = increases.select_nth_unstable_by(count - 1, |one, other| other.total_cmp(one));
        let intervals = (self.times_ms.len() - 1) as f64;
        Some(*least / (1.0 + MOST_EXTRAPOLATED / intervals))
    }

    /// Keeps the series that have grown by so much at least.
    pub(super) fn keep_from(&mut self, least: f64) {
        self.lines.retain(|line| line.increase() >= least);
        // They were places among all lines.
        self.places.clear();
        self.named.clear();
    }

    /// Returns what each series grew by, with its key.
    pub(super) fn increases(&self) -> impl Iterator<Item = (&K, f64)> {
        self.lines.iter().map(|line| (&line.key, line.increase()))
    }

    /// Returns all series. `name` returns the name of a key.
    pub(super) fn into_series(self, name: impl Fn(&K) -> SeriesName) -> Vec<Series> {
        let times_ms: Arc<[i64]> = self.times_ms.into();
        let series = self.lines.into_iter().filter(|line| !line.changes.is_empty());
        let series = series.map(|line| Series {
            name: line.name.unwrap_or_else(|| name(&line.key)),
            samples: Samples::Held { times_ms: Arc::clone(&times_ms), changes: line.changes },
        });
        series.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_name_are_one_series() {
        let mut lines = TaskLines::new(false);
        lines.begin(1000);
        for (key, name, growth) in [(1, "a", 2), (2, "b", 1), (3, "a", 3), (1, "a", 4)] {
            let known = lines.known(&key);
            let line = known.unwrap_or_else(|| lines.add_key(key, true, Some(SeriesName::new(name))));
            lines.add(line, growth, |sum| sum as f64);
        }
        let values: Vec<_> = lines.lines.iter().map(|line| line.changes.last().copied()).collect();
        assert_eq!(values, [Some((0, 9.0)), Some((0, 1.0))]);
        assert_eq!(lines.into_series(|_| SeriesName::default()).len(), 2);
    }

    /// Omitted lines cannot be among the largest, whatever extrapolation makes of them.
    #[test]
    fn the_largest_are_kept() {
        let kept = |from_ms: i64, to_ms: i64, rounds: i64| {
            let mut lines = TaskLines::new(false);
            (1..=rounds).for_each(|round| {
                lines.begin(round * 1000);
                for key in 1..=100_u64 {
                    let line = lines.known(&key).unwrap_or_else(|| lines.add_key(key, true, None));
                    lines.add(line, key, |sum| sum as f64);
                }
            });
            if let Some(least) = lines.least_of_largest(2, from_ms, to_ms) {
                lines.keep_from(least);
            }
            let name = |key: &u64| SeriesName::new(&format!("n{key}"));
            lines
                .into_series(name)
                .into_iter()
                .map(|series| series.name.metric().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(0, 1_000_000, 1000), ["n99", "n100"]);
        assert_eq!(kept(999, 31_000, 31).len(), 11);
        // The first round is outside the range, then the last one; one round has no rate.
        assert_eq!(kept(1000, 1_000_000, 1000).len(), 100);
        assert_eq!(kept(0, 999_999, 1000).len(), 100);
        assert_eq!(kept(0, 1000, 1).len(), 100);
    }
}
