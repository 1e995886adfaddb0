//! Series that are built round by round.

use std::hash::Hash;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};
use formats::series_name::SeriesName;
use query::{STALE_BITS, Samples, Series};

/// Series of some metrics by what distinguishes them, which is the same for all of these metrics.
#[derive(Debug)]
pub(super) struct TaskLines<K> {
    places: HashMap<K, usize>,
    /// The places of keys by name. Different keys may read alike: two names that are not UTF-8, two cgroups whose paths are not known.
    named: HashMap<SeriesName, usize>,
    /// By place. A name is `None` if no other key has the same, and is written when it is needed.
    keys: Vec<(K, Option<SeriesName>)>,
    /// The lines of each metric, by place.
    lines: Vec<Vec<Line>>,
    /// How many series there are.
    count: usize,
    times_ms: Vec<i64>,
    /// Only the growth of each is wanted, from the first round or the second one.
    has_one_window: bool,
}

/// The samples of a metric with the labels of a key.
#[derive(Clone, Debug, Default)]
struct Line {
    /// There is such a series.
    is_there: bool,
    /// It is 0 before its first change, from the first round on.
    is_padded: bool,
    /// The sum of what was added. An integer: its rounding does not depend on the order of tasks.
    sum: u64,
    changes: Vec<(u32, f64)>,
}

impl Line {
    /// Returns what it grew by between its first and its last sample.
    fn increase(&self) -> f64 {
        let first = if self.is_padded { Some(0.0) } else { self.changes.first().map(|(_, first)| *first) };
        let last = self.changes.last().map(|(_, last)| *last);
        first.zip(last).map_or(0.0, |(first, last)| last - first)
    }

    /// In a round it has a value.
    fn set(&mut self, round: u32, value: f64, has_one_window: bool) {
        match self.changes.last_mut() {
            Some((last_round, last)) if *last_round == round => *last = value,
            Some((_, last)) if last.to_bits() == value.to_bits() => {}
            // Between the ends nothing is asked for.
            Some(last) if has_one_window && last.0 > 1 => *last = (round, value),
            None if self.is_padded && value == 0.0 => {}
            // Most tasks of a storm have one change.
            None => self.changes = vec![(round, value)],
            Some(_) => self.changes.push((round, value)),
        }
    }

    fn into_changes(self) -> Vec<(u32, f64)> {
        let mut changes = self.changes;
        if self.is_padded {
            changes.reserve_exact(1);
            changes.insert(0, (0, 0.0));
        }
        changes
    }
}

impl<K: Hash + Eq + Copy> TaskLines<K> {
    /// No series of so many metrics. `has_one_window`: only what each has grown by is wanted, from the first round or, where that lies on the
    /// edge of the window, from the second one.
    pub(super) fn new(metrics: usize, has_one_window: bool) -> Self {
        Self {
            places: HashMap::new(),
            named: HashMap::new(),
            keys: Vec::new(),
            lines: vec![Vec::new(); metrics],
            count: 0,
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
        self.count
    }

    /// Returns the place of a key, if it has one.
    pub(super) fn known(&self, key: &K) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// Adds a new key and returns its place, which is that of another key with the same name. `name` is `None` if no other key can have the
    /// same.
    pub(super) fn add_key(&mut self, key: K, name: Option<SeriesName>) -> usize {
        let place = self.keys.len();
        let known = name.as_ref().map(|name| *self.named.entry(name.clone()).or_insert(place));
        if known.is_none_or(|known| known == place) {
            self.keys.push((key, name));
        }
        let place = known.unwrap_or(place);
        self.places.insert(key, place);
        place
    }

    /// Adds to the series of a metric at a place in this round. A new one is 0 before, from the first round on, if `is_padded`. `value` converts
    /// its sum.
    pub(super) fn add(
        &mut self,
        (metric, place): (usize, usize),
        growth: u64,
        is_padded: bool,
        value: impl Fn(u64) -> f64,
    ) {
        let (round, has_one_window) = (self.round(), self.has_one_window);
        let line = self.line(metric, place, is_padded && round > 0);
        line.sum = line.sum.saturating_add(growth);
        line.set(round, value(line.sum), has_one_window);
    }

    /// In this round the series of a metric at a place has a value.
    pub(super) fn set(&mut self, (metric, place): (usize, usize), value: f64) {
        let (round, has_one_window) = (self.round(), self.has_one_window);
        self.line(metric, place, false).set(round, value, has_one_window);
    }

    /// In this round the series of a metric at a place is not there any more.
    pub(super) fn end(&mut self, line: (usize, usize)) {
        self.set(line, f64::from_bits(STALE_BITS));
    }

    fn round(&self) -> u32 {
        (self.times_ms.len() - 1) as u32
    }

    fn line(&mut self, metric: usize, place: usize, is_padded: bool) -> &mut Line {
        let lines = &mut self.lines[metric];
        if lines.len() <= place {
            lines.resize_with(place + 1, Line::default);
        }
        let line = &mut lines[place];
        if !line.is_there {
            (line.is_there, line.is_padded) = (true, is_padded);
            self.count += 1;
        }
        line
    }

    fn lines(&self, metric: usize) -> impl Iterator<Item = (&Line, &(K, Option<SeriesName>))> {
        self.lines[metric].iter().zip(&self.keys).filter(|(line, _)| line.is_there)
    }

    /// Returns what the `count` largest rates of a metric after `from_ms` and until `to_ms` have grown by at least; `None` if that is not known,
    /// so that all are wanted. All counters have a sample in each round, so that their rates are in the order of their increases.
    pub(super) fn least_of_largest(
        &self,
        metric: usize,
        count: usize,
        [from_ms, to_ms]: [i64; 2],
    ) -> Option<f64> {
        // Otherwise some samples are not in the range, so that something else is the increase in it.
        let is_within = match self.times_ms[..] {
            [first, .., last] => first > from_ms && last <= to_ms,
            _ => false,
        };
        if !is_within || count == 0 {
            return None;
        }
        let mut increases: Vec<f64> = self.increases(metric).map(|(_, increase)| increase).collect();
        if increases.len() < count {
            return None;
        }
        let (_, least, _) = increases.select_nth_unstable_by(count - 1, |one, other| other.total_cmp(one));
        Some(*least)
    }

    /// Returns what each series of a metric grew by, with its key.
    pub(super) fn increases(&self, metric: usize) -> impl Iterator<Item = (&K, f64)> {
        self.lines(metric).map(|(line, (key, _))| (key, line.increase()))
    }

    /// Returns the times of the rounds.
    pub(super) fn times_ms(&self) -> Arc<[i64]> {
        self.times_ms.as_slice().into()
    }

    /// Takes the series of a metric that have grown by so much at least, all if `least` is `None`. `name` returns the name of a key.
    pub(super) fn take_series(
        &mut self,
        metric: usize,
        least: Option<f64>,
        times_ms: &Arc<[i64]>,
        name: impl Fn(&K) -> SeriesName,
    ) -> Vec<Series> {
        let lines = std::mem::take(&mut self.lines[metric]).into_iter().zip(&self.keys);
        let lines =
            lines.filter(|(line, _)| line.is_there && least.is_none_or(|least| line.increase() >= least));
        let series = lines.map(|(line, (key, known))| Series {
            name: known.clone().unwrap_or_else(|| name(key)),
            samples: Samples::Held { times_ms: Arc::clone(times_ms), changes: line.into_changes() },
        });
        series.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_name_are_one_series() {
        let mut lines = TaskLines::new(1, false);
        lines.begin(1000);
        for (key, name, growth) in [(1, "a", 2), (2, "b", 1), (3, "a", 3), (1, "a", 4)] {
            let known = lines.known(&key);
            let place = known.unwrap_or_else(|| lines.add_key(key, Some(SeriesName::new(name))));
            lines.add((0, place), growth, true, |sum| sum as f64);
        }
        let series = lines.take_series(0, None, &lines.times_ms(), |_| SeriesName::default());
        let values = series.iter().map(|series| match &series.samples {
            Samples::Held { changes, .. } => changes.as_slice(),
            Samples::Points(_) => panic!("points"),
        });
        assert_eq!(values.collect::<Vec<_>>(), [[(0, 9.0)], [(0, 1.0)]]);
    }

    /// A series that begins is 0 before, and is there also if it does nothing. A metric that no task of a key has is not there.
    #[test]
    fn metrics_of_a_key_begin_when_they_are_met() {
        let mut lines = TaskLines::new(2, true);
        for second in 0..5 {
            lines.begin(second * 1000);
            if second == 2 {
                let [quiet, busy] = [7, 8].map(|key| lines.add_key(key, None));
                lines.add((0, quiet), 0, true, |sum| sum as f64);
                lines.add((1, busy), 3, true, |sum| sum as f64);
            } else if let Some(busy) = lines.known(&8) {
                lines.add((1, busy), 1, true, |sum| sum as f64);
            }
        }
        assert_eq!(lines.len(), 2);
        let mut of = |metric| {
            let times_ms = lines.times_ms();
            lines.take_series(metric, None, &times_ms, |key| SeriesName::new(&format!("n{key}")))
        };
        let changes = |series: &Series| match &series.samples {
            Samples::Held { changes, .. } => (series.name.metric().to_owned(), changes.clone()),
            Samples::Points(_) => panic!("points"),
        };
        let found = [of(0), of(1)].map(|series| series.iter().map(changes).collect::<Vec<_>>());
        let expected = [("n7".to_owned(), vec![(0, 0.0)]), ("n8".to_owned(), vec![(0, 0.0), (4, 5.0)])];
        assert_eq!(found, expected.map(|one| vec![one]));
    }

    /// Omitted lines cannot be among the largest.
    #[test]
    fn the_largest_are_kept() {
        let kept = |from_ms: i64, to_ms: i64, rounds: i64| {
            let mut lines = TaskLines::new(1, false);
            (1..=rounds).for_each(|round| {
                lines.begin(round * 1000);
                for key in 1..=100_u64 {
                    let place = lines.known(&key).unwrap_or_else(|| lines.add_key(key, None));
                    lines.add((0, place), key, true, |sum| sum as f64);
                }
            });
            let least = lines.least_of_largest(0, 2, [from_ms, to_ms]);
            let name = |key: &u64| SeriesName::new(&format!("n{key}"));
            let series = lines.take_series(0, least, &lines.times_ms(), name);
            series.into_iter().map(|series| series.name.metric().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(kept(0, 1_000_000, 1000), ["n99", "n100"]);
        assert_eq!(kept(999, 31_000, 31), ["n99", "n100"]);
        // The first round is outside the range, then the last one; one round has no rate.
        assert_eq!(kept(1000, 1_000_000, 1000).len(), 100);
        assert_eq!(kept(0, 999_999, 1000).len(), 100);
        assert_eq!(kept(0, 1000, 1).len(), 100);
    }
}
