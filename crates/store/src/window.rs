//! From ticks to the longer steps of a tier: what a window of ticks keeps of a series.
//!
//! A counter keeps its last value, and what it had reached whenever it was reset, so that increases over any number of windows are
//! exact. A gauge keeps its last value, minimum, maximum, sum and count.

use std::ops::Range;

use facts::sample::Clock;

use crate::column;
use crate::series::SeriesKind;

/// The windows of some ticks: which ticks, and the clock of the last of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Windows {
    pub(crate) ticks: Vec<Range<usize>>,
    pub(crate) clocks: Vec<Clock>,
}

impl Windows {
    /// Divides ticks of one boot into windows of whole multiples of a step on the boot clock.
    pub(crate) fn of(clocks: &[Clock], step_s: i64) -> Self {
        let step_ns = step_s.max(1).cast_unsigned().saturating_mul(1_000_000_000);
        let mut windows = Self::default();
        let mut number = None;
        for (place, clock) in clocks.iter().enumerate() {
            let this = clock.boottime.0 / step_ns;
            match windows.ticks.last_mut().zip(windows.clocks.last_mut()) {
                Some((ticks, last)) if number == Some(this) => (ticks.end, *last) = (place + 1, *clock),
                _ => {
                    windows.ticks.push(place..place + 1);
                    windows.clocks.push(*clock);
                }
            }
            number = Some(this);
        }
        windows
    }
}

/// The values of a series in some ticks, or in some windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Points {
    /// The last value of each.
    pub(crate) last: Vec<Option<f64>>,
    /// For a counter in windows: the sum of the values that it had reached at its resets. Empty if it was not reset.
    pub(crate) reached: Vec<Option<f64>>,
    /// For a gauge in windows: minimum, maximum, sum and count.
    pub(crate) range: Option<[Vec<Option<f64>>; 4]>,
}

impl Points {
    /// Ticks as they were recorded.
    pub(crate) fn of_ticks(values: Vec<Option<f64>>) -> Self {
        Self { last: values, ..Self::default() }
    }

    /// Adds those of the ticks or windows that follow. `ticks` is how many this has, and `more_ticks` how many the other has.
    pub(crate) fn append(&mut self, ticks: usize, more: Self, more_ticks: usize) {
        join(&mut self.last, ticks, more.last, more_ticks);
        join(&mut self.reached, ticks, more.reached, more_ticks);
        if let Some(range) = more.range {
            let own = self.range.get_or_insert_with(Default::default);
            own.iter_mut().zip(range).for_each(|(own, more)| join(own, ticks, more, more_ticks));
        }
    }

    /// Returns these points thinned to windows. `before` is the last value before them.
    pub(crate) fn thin(&self, windows: &Windows, kind: SeriesKind, before: Option<f64>) -> Self {
        let of = |ticks: &Range<usize>, values: &[Option<f64>]| -> Vec<f64> {
            values.get(ticks.clone()).unwrap_or_default().iter().copied().flatten().collect()
        };
        let last = windows.ticks.iter().map(|ticks| of(ticks, &self.last).last().copied()).collect();
        match kind {
            SeriesKind::Counter => Self { last, reached: self.thin_resets(windows, before), range: None },
            SeriesKind::Gauge => {
                let column = |place: usize, fold: fn(f64, f64) -> f64| {
                    let values = self.range.as_ref().map_or(&self.last, |range| &range[place]);
                    windows.ticks.iter().map(|ticks| of(ticks, values).into_iter().reduce(fold)).collect()
                };
                let counts = match &self.range {
                    Some(_) => column(3, |first, second| first + second),
                    None => windows
                        .ticks
                        .iter()
                        .map(|ticks| Some(of(ticks, &self.last).len() as f64).filter(|count| *count > 0.0))
                        .collect(),
                };
                let range = [
                    column(0, f64::min),
                    column(1, f64::max),
                    column(2, |first, second| first + second),
                    counts,
                ];
                Self { last, reached: Vec::new(), range: Some(range) }
            }
        }
    }

    fn thin_resets(&self, windows: &Windows, mut before: Option<f64>) -> Vec<Option<f64>> {
        let mut reached = Vec::with_capacity(windows.ticks.len());
        for ticks in &windows.ticks {
            let mut sum = None;
            for place in ticks.clone() {
                let earlier = self.reached.get(place).copied().flatten();
                let Some(value) = self.last.get(place).copied().flatten() else { continue };
                let reset = before.filter(|before| value < *before);
                // In a window of its own it was reset as well, and what it had reached there includes what came before.
                let this = earlier.or(reset);
                if let Some(this) = this {
                    sum = Some(sum.unwrap_or(0.0) + this);
                }
                before = Some(value);
            }
            reached.push(sum);
        }
        if reached.iter().all(Option::is_none) { Vec::new() } else { reached }
    }

    /// Compresses it; `None` if there are no values.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut columns = vec![column::encode(&self.last)?];
        columns.push(column::encode(&self.reached).unwrap_or_default());
        for values in self.range.iter().flatten() {
            columns.push(column::encode(values).unwrap_or_default());
        }
        Some(column::join(&columns))
    }

    /// From what [`Self::encode`] wrote; `None` if the bytes are other ones.
    pub(crate) fn decode(mut bytes: &[u8], ticks: usize) -> Option<Self> {
        let mut columns = Vec::new();
        while !bytes.is_empty() {
            let column = column::split(&mut bytes)?;
            columns.push(if column.is_empty() { Vec::new() } else { column::decode(column, ticks)? });
        }
        let mut columns = columns.into_iter();
        let (last, reached) = (columns.next()?, columns.next()?);
        let range: Vec<_> = columns.collect();
        Some(Self {
            last,
            reached,
            range: if range.is_empty() { None } else { Some(range.try_into().ok()?) },
        })
    }
}

/// Appends a column to another; an empty one has no values.
fn join(own: &mut Vec<Option<f64>>, ticks: usize, more: Vec<Option<f64>>, more_ticks: usize) {
    if own.is_empty() && more.is_empty() {
        return;
    }
    own.resize(ticks, None);
    own.extend(more);
    own.resize(ticks + more_ticks, None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::unit::Nanos;
    use proptest::prelude::*;

    fn clocks(ticks: usize) -> Vec<Clock> {
        let at = |second: usize| Nanos(second as u64 * Nanos::SECOND.0);
        (1003..1003 + ticks)
            .map(|second| Clock { realtime: at(second), boottime: at(second), monotonic: at(second) })
            .collect()
    }

    /// The increase of a counter over its points, resets included.
    fn increase(points: &Points) -> f64 {
        let (mut sum, mut before) = (0.0, None);
        for (place, value) in points.last.iter().enumerate() {
            let Some(value) = *value else { continue };
            let reached = points.reached.get(place).copied().flatten();
            if let Some(before) = before {
                sum += match reached {
                    Some(reached) => reached - before + value,
                    None if value < before => value,
                    None => value - before,
                };
            }
            before = Some(value);
        }
        sum
    }

    #[test]
    fn windows_are_whole_multiples() {
        let windows = Windows::of(&clocks(25), 10);
        assert_eq!(windows.ticks, [0..7, 7..17, 17..25]);
        assert_eq!(windows.clocks[1].boottime, Nanos(1019 * Nanos::SECOND.0));
    }

    #[test]
    fn a_gauge_keeps_its_range() {
        let ticks =
            Points::of_ticks((0..20).map(|tick| (tick != 3).then_some(f64::from(tick % 7))).collect());
        let ten = ticks.thin(&Windows::of(&clocks(20), 10), SeriesKind::Gauge, None);
        let decoded = Points::decode(&ten.encode().unwrap(), 3).unwrap();
        assert_eq!(decoded, ten);
        let all = ten.thin(
            &Windows { ticks: std::iter::once(0..3).collect(), clocks: clocks(1) },
            SeriesKind::Gauge,
            None,
        );
        let sum = (0..20).filter(|tick| *tick != 3).map(|tick| f64::from(tick % 7)).sum();
        assert_eq!(all.range.unwrap(), [vec![Some(0.0)], vec![Some(6.0)], vec![Some(sum)], vec![Some(19.0)]]);
    }

    proptest! {
        #[test]
        fn increases_stay_exact(steps in prop::collection::vec(0..50_u32, 10..300), first in 0..9_usize) {
            let mut value = 0.0;
            let values = steps.iter().map(|step| {
                // Reset often: several times in a window.
                value = if *step < 5 { f64::from(*step) } else { value + f64::from(*step) };
                (*step % 11 != 7).then_some(value)
            });
            let ticks = Points::of_ticks(values.collect());
            // Divided into blocks anywhere, thinned together, and thinned again.
            let clocks = clocks(steps.len());
            let mut points = Points::of_ticks(ticks.last[..first].to_vec());
            points.append(first, Points::of_ticks(ticks.last[first..].to_vec()), steps.len() - first);
            let windows = Windows::of(&clocks, 10);
            let ten = points.thin(&windows, SeriesKind::Counter, None);
            let decoded = ten.encode().map(|bytes| Points::decode(&bytes, windows.ticks.len()).unwrap());
            prop_assert_eq!(&decoded.unwrap(), &ten);
            let minute = ten.thin(&Windows::of(&windows.clocks, 60), SeriesKind::Counter, None);
            let first_window: Vec<f64> = windows.ticks[0].clone().filter_map(|tick| ticks.last[tick]).collect();
            prop_assume!(!first_window.is_empty());
            // Before the last value of the first window nothing is known of the windows.
            let after = |points: &Points, window: usize, ticks: &Points, last: usize| {
                let from = ticks.last[..=last].iter().rposition(Option::is_some);
                let rest = Points::of_ticks(ticks.last[from.unwrap_or(0)..].to_vec());
                let own = Points { last: points.last[window..].to_vec(), reached: points.reached.get(window..).unwrap_or_default().to_vec(), range: None };
                (increase(&own), increase(&rest))
            };
            let (found, expected) = after(&ten, 0, &ticks, windows.ticks[0].end - 1);
            prop_assert_eq!(found, expected);
            let ends = Windows::of(&windows.clocks, 60).ticks[0].end - 1;
            let (found, expected) = after(&minute, 0, &ticks, windows.ticks[ends].end - 1);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>, ticks in 0..700_usize) {
            let _ = Points::decode(&bytes, ticks);
        }
    }
}
