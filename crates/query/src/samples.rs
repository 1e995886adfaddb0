//! Samples of a series over time.

use std::sync::Arc;

/// The value that ends a series: it is not there until its next sample. Prometheus' own (a NaN of these bits).
pub const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// Whether a value is the mark that ends a series.
pub fn is_stale(value: f64) -> bool {
    value.to_bits() == STALE_BITS
}

/// A value at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The value.
    pub value: f64,
}

/// A series' samples, in the order of time.
#[derive(Clone, Debug)]
pub enum Samples {
    /// Each by itself; [`STALE_BITS`] where the series ends.
    Points(Vec<Point>),
    /// A value that rarely changes, at instants that many series have in common.
    Held {
        /// The instants, in milliseconds since 1970.
        times_ms: Arc<[i64]>,
        /// From which instant on it has which value, by its place. The series begins with the first of them.
        changes: Vec<(u32, f64)>,
        /// How many of the instants it has: it ends before the next.
        end: u32,
    },
}

/// The same value at one or several instants that follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) first_ms: i64,
    pub(crate) last_ms: i64,
    pub(crate) count: usize,
    pub(crate) value: f64,
}

impl Samples {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Held { changes, end, .. } => {
                changes.first().map_or(0, |(first, _)| (end - first.min(end)) as usize)
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it takes in memory, as a number of points.
    pub(crate) fn stored(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Held { changes, .. } => changes.len(),
        }
    }

    /// The newest sample between two instants, both included; `None` if there is none, or the series has ended.
    pub(crate) fn newest(&self, from_ms: i64, to_ms: i64) -> Option<Point> {
        match self {
            Self::Points(points) => {
                let end = points.partition_point(|point| point.at_ms <= to_ms);
                let newest = points.get(end.checked_sub(1)?)?;
                (newest.at_ms >= from_ms && !is_stale(newest.value)).then_some(*newest)
            }
            Self::Held { times_ms, changes, end } => {
                let place = times_ms.partition_point(|at| *at <= to_ms).checked_sub(1)?;
                let at_ms = *times_ms.get(place)?;
                let change = changes.partition_point(|(from, _)| *from as usize <= place).checked_sub(1)?;
                let is_there = at_ms >= from_ms && place < *end as usize;
                is_there.then(|| Point { at_ms, value: changes[change].1 })
            }
        }
    }

    /// The samples between two instants, both included, each by itself.
    pub(crate) fn points(&self, from_ms: i64, to_ms: i64) -> Vec<Point> {
        match self {
            Self::Points(points) => {
                let is_inside =
                    |point: &&Point| (from_ms..=to_ms).contains(&point.at_ms) && !is_stale(point.value);
                points.iter().filter(is_inside).copied().collect()
            }
            Self::Held { times_ms, .. } => {
                let inside = times_ms.iter().filter(|at_ms| (from_ms..=to_ms).contains(at_ms));
                inside.filter_map(|at_ms| self.newest(*at_ms, *at_ms)).collect()
            }
        }
    }

    /// The same, as runs of equal values.
    pub(crate) fn runs(&self, from_ms: i64, to_ms: i64, runs: &mut Vec<Run>) {
        runs.clear();
        match self {
            Self::Points(points) => {
                let first = points.partition_point(|point| point.at_ms < from_ms);
                let inside = points[first..].iter().take_while(|point| point.at_ms <= to_ms);
                runs.extend(inside.filter(|point| !is_stale(point.value)).map(|point| Run {
                    first_ms: point.at_ms,
                    last_ms: point.at_ms,
                    count: 1,
                    value: point.value,
                }));
            }
            Self::Held { times_ms, changes, end } => {
                let first = times_ms.partition_point(|at| *at < from_ms);
                let after = times_ms.partition_point(|at| *at <= to_ms).min(*end as usize);
                let skipped = changes.partition_point(|(from, _)| *from as usize <= first).saturating_sub(1);
                let starts = changes[skipped..].iter();
                for (place, (start, value)) in starts.enumerate() {
                    let start = (*start as usize).max(first);
                    let next =
                        changes.get(skipped + place + 1).map_or(usize::MAX, |(next, _)| *next as usize);
                    let stop = next.min(after);
                    if start >= after {
                        break;
                    }
                    if start < stop {
                        runs.push(Run {
                            first_ms: times_ms[start],
                            last_ms: times_ms[stop - 1],
                            count: stop - start,
                            value: *value,
                        });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same samples, each by itself.
    fn points(held: &Samples) -> Samples {
        let Samples::Held { times_ms, changes, end } = held else { panic!("held") };
        let value =
            |place: usize| changes.iter().rfind(|(from, _)| *from as usize <= place).map(|(_, value)| *value);
        let points = (0..*end as usize)
            .filter_map(|place| value(place).map(|value| Point { at_ms: times_ms[place], value }))
            .collect::<Vec<_>>();
        let mut points = points;
        // Its end.
        if let Some(at) = times_ms.get(*end as usize) {
            points.push(Point { at_ms: *at, value: f64::from_bits(STALE_BITS) });
        }
        Samples::Points(points)
    }

    proptest! {
        #[test]
        fn held_samples_are_those_samples(
            steps in prop::collection::vec(1..5_i64, 1..40),
            changed in prop::collection::btree_map(0..40_u32, 0..4_u8, 1..10),
            end in 0..40_u32,
            from in -5..100_i64,
            length in 0..60_i64,
        ) {
            let mut at = 0;
            let times_ms: Arc<[i64]> = steps.iter().map(|step| { at += step; at }).collect();
            let end = end.min(times_ms.len() as u32);
            let changes: Vec<_> = changed.into_iter().map(|(place, value)| (place, f64::from(value))).collect();
            let held = Samples::Held { times_ms, changes, end };
            let plain = points(&held);
            let expand = |samples: &Samples| {
                let mut runs = Vec::new();
                samples.runs(from, from + length, &mut runs);
                runs
            };
            let (held_runs, plain_runs) = (expand(&held), expand(&plain));
            prop_assert_eq!(held_runs.iter().map(|run| run.count).sum::<usize>(), plain_runs.len());
            prop_assert_eq!(held_runs.first().map(|run| run.first_ms), plain_runs.first().map(|run| run.first_ms));
            prop_assert_eq!(held_runs.last().map(|run| run.last_ms), plain_runs.last().map(|run| run.last_ms));
            let values = |runs: &[Run]| -> Vec<f64> { runs.iter().flat_map(|run| std::iter::repeat_n(run.value, run.count)).collect() };
            prop_assert_eq!(values(&held_runs), values(&plain_runs));
            prop_assert_eq!(held.newest(from, from + length), plain.newest(from, from + length));
            prop_assert_eq!(held.len(), plain_runs_len(&plain));
        }
    }

    fn plain_runs_len(samples: &Samples) -> usize {
        let mut runs = Vec::new();
        samples.runs(i64::MIN, i64::MAX, &mut runs);
        runs.len()
    }
}
