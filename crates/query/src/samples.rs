//! Samples of a series over time.

use std::sync::Arc;

/// The value that ends a series: it is not there until its next sample. Prometheus' own (a NaN of these bits).
pub const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// Returns whether a value is the mark that ends a series.
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
    /// Each by itself; [`STALE_BITS`] where the series ends. A copy shares them.
    Points(Arc<Vec<Point>>),
    /// A value that rarely changes, at instants that many series have in common. A function of a range looks at the changes alone. In a
    /// range a counter is counted from any instant on, so that only its differences mean something; before it began it has samples, too.
    Held {
        /// The instants, in milliseconds since 1970.
        times_ms: Arc<[i64]>,
        /// From which instant on it has which value, by its place: [`STALE_BITS`] where it is not there any more. The series begins
        /// with the first of them.
        changes: Vec<(u32, f64)>,
    },
}

/// A value that is the same at one or several instants that follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) first_ms: i64,
    pub(crate) last_ms: i64,
    pub(crate) count: usize,
    pub(crate) value: f64,
}

impl From<Vec<Point>> for Samples {
    fn from(points: Vec<Point>) -> Self {
        Self::Points(Arc::new(points))
    }
}

impl FromIterator<Point> for Samples {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> Self {
        Self::from(points.into_iter().collect::<Vec<Point>>())
    }
}

impl Samples {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stored() == 0
    }

    /// Returns whether these samples, if they are a counter's, may begin with it: it is 0 shortly before the first.
    pub(crate) fn may_begin(&self) -> bool {
        matches!(self, Self::Points(_))
    }

    /// Returns what it takes in memory, as a number of points.
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
            Self::Held { times_ms, changes } => {
                let place = times_ms.partition_point(|at| *at <= to_ms).checked_sub(1)?;
                let at_ms = *times_ms.get(place)?;
                let change = changes.partition_point(|(from, _)| *from as usize <= place).checked_sub(1)?;
                let value = changes[change].1;
                (at_ms >= from_ms && !is_stale(value)).then_some(Point { at_ms, value })
            }
        }
    }

    /// Returns false if no sample lies between two instants, both included.
    pub(crate) fn may_lie_in(&self, from_ms: i64, to_ms: i64) -> bool {
        let [first_ms, last_ms] = match self {
            Self::Points(points) => {
                [points.first(), points.last()].map(|point| point.map(|point| point.at_ms))
            }
            Self::Held { times_ms, .. } => [times_ms.first(), times_ms.last()].map(Option::<&i64>::copied),
        };
        first_ms.is_some_and(|first_ms| first_ms <= to_ms)
            && last_ms.is_some_and(|last_ms| from_ms <= last_ms)
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

    /// Writes the same samples to `runs`, as runs of equal values.
    pub(crate) fn runs(&self, from_ms: i64, to_ms: i64, runs: &mut Vec<Run>) {
        runs.clear();
        match self {
            Self::Points(points) => {
                let first = points.partition_point(|point| point.at_ms < from_ms);
                let points = &points[first..];
                // A buffer that grew with them would be copied again and again.
                runs.reserve(points.partition_point(|point| point.at_ms <= to_ms));
                let inside = points.iter().take_while(|point| point.at_ms <= to_ms);
                runs.extend(inside.filter(|point| !is_stale(point.value)).map(|point| Run {
                    first_ms: point.at_ms,
                    last_ms: point.at_ms,
                    count: 1,
                    value: point.value,
                }));
            }
            Self::Held { times_ms, changes } => {
                let first = times_ms.partition_point(|at| *at < from_ms);
                let after = times_ms.partition_point(|at| *at <= to_ms);
                let skipped = changes.partition_point(|(from, _)| *from as usize <= first).saturating_sub(1);
                for (place, (start, value)) in changes.iter().enumerate().skip(skipped) {
                    let start = (*start as usize).max(first);
                    if start >= after {
                        break;
                    }
                    let next = changes.get(place + 1).map_or(after, |(next, _)| (*next as usize).min(after));
                    if start < next && !is_stale(*value) {
                        runs.push(Run {
                            first_ms: times_ms[start],
                            last_ms: times_ms[next - 1],
                            count: next - start,
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

    /// Returns the same samples, each by itself.
    fn points(held: &Samples) -> Samples {
        let Samples::Held { times_ms, changes } = held else { panic!("held") };
        let value =
            |place: usize| changes.iter().rfind(|(from, _)| *from as usize <= place).map(|(_, value)| *value);
        let point = |place: usize| value(place).map(|value| Point { at_ms: times_ms[place], value });
        (0..times_ms.len()).filter_map(point).collect()
    }

    proptest! {
        #[test]
        fn held_samples_are_those_samples(
            steps in prop::collection::vec(1..5_i64, 1..40),
            changed in prop::collection::btree_map(0..40_u32, 0..4_u8, 1..10),
            from in -5..100_i64,
            length in 0..60_i64,
        ) {
            let mut at = 0;
            let times_ms: Arc<[i64]> = steps.iter().map(|step| { at += step; at }).collect();
            let value = |number: u8| if number == 0 { f64::from_bits(STALE_BITS) } else { f64::from(number) };
            let changes: Vec<_> = changed.into_iter().map(|(place, number)| (place, value(number))).collect();
            let held = Samples::Held { times_ms, changes };
            let plain = points(&held);
            let expand = |samples: &Samples| {
                let mut runs = Vec::new();
                samples.runs(from, from + length, &mut runs);
                runs
            };
            let (held_runs, plain_runs) = (expand(&held), expand(&plain));
            prop_assert_eq!(held_runs.first().map(|run| run.first_ms), plain_runs.first().map(|run| run.first_ms));
            prop_assert_eq!(held_runs.last().map(|run| run.last_ms), plain_runs.last().map(|run| run.last_ms));
            let values = |runs: &[Run]| -> Vec<f64> {
                runs.iter().flat_map(|run| std::iter::repeat_n(run.value, run.count)).collect()
            };
            prop_assert_eq!(values(&held_runs), values(&plain_runs));
            prop_assert_eq!(held.newest(from, from + length), plain.newest(from, from + length));
            prop_assert_eq!(held.points(from, from + length), plain.points(from, from + length));
        }
    }
}
