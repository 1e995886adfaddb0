//! Series that are built round by round.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use formats::series_name::SeriesName;
use query::{STALE_BITS, Samples, Series};

/// Series by what tells them apart.
#[derive(Debug)]
pub(super) struct TaskLines<K> {
    places: HashMap<K, usize>,
    /// What differs may read alike: two names that are not UTF-8, two cgroups whose paths are not known.
    named: HashMap<SeriesName, usize>,
    lines: Vec<Line>,
    times_ms: Vec<i64>,
}

#[derive(Debug)]
struct Line {
    name: SeriesName,
    /// The sum of what was added. An integer: its rounding does not depend on the order of tasks.
    sum: u64,
    changes: Vec<(u32, f64)>,
}

impl<K: Hash + Eq> TaskLines<K> {
    pub(super) fn new() -> Self {
        Self { places: HashMap::new(), named: HashMap::new(), lines: Vec::new(), times_ms: Vec::new() }
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

    /// The series of a key, which keys of one name share; a new one is 0 before, from the first round on, if `is_padded`.
    pub(super) fn line(&mut self, key: K, is_padded: bool, name: impl FnOnce() -> SeriesName) -> usize {
        let Self { places, named, lines, .. } = self;
        *places.entry(key).or_insert_with(|| {
            let name = name();
            *named.entry(name.clone()).or_insert_with(|| {
                let changes = if is_padded { vec![(0, 0.0)] } else { Vec::new() };
                lines.push(Line { name, sum: 0, changes });
                lines.len() - 1
            })
        })
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
            _ => line.changes.push((round, value)),
        }
    }

    /// In this round a series is not there any more.
    pub(super) fn end(&mut self, line: usize) {
        self.set(line, f64::from_bits(STALE_BITS));
    }

    /// All that were built.
    pub(super) fn into_series(self) -> Vec<Series> {
        let times_ms: Arc<[i64]> = self.times_ms.into();
        let series = self.lines.into_iter().filter(|line| !line.changes.is_empty());
        let series = series.map(|line| Series {
            name: line.name,
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
        let mut lines = TaskLines::new();
        lines.begin(1000);
        for (key, name, growth) in [(1, "a", 2), (2, "b", 1), (3, "a", 3), (1, "a", 4)] {
            let line = lines.line(key, true, || SeriesName::new(name));
            lines.add(line, growth, |sum| sum as f64);
        }
        let values: Vec<_> = lines.lines.iter().map(|line| line.changes.last().copied()).collect();
        assert_eq!(values, [Some((0, 9.0)), Some((0, 1.0))]);
        assert_eq!(lines.into_series().len(), 2);
    }
}
