//! One value of many series.

use std::collections::HashMap;

use formats::series_name::SeriesName;

use crate::error::QueryError;
use crate::expression::{Aggregation, LabelChoice};
use crate::limits::Limits;
use crate::number::write_in_full;
use crate::over_time::quantile;
use crate::samples::Point;
use crate::sum::Sum;
use crate::value::Column;

/// The number of steps between two checks for interruption.
const STEPS_UNCHECKED: usize = 16;

/// The part of a group's value at a step that comes from the series seen so far.
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    count: f64,
    /// Of the values, or of the squares of their distances from the mean.
    sum: Sum,
    /// The mean, or the least or the largest value.
    summary: f64,
}

impl Partial {
    fn add(&mut self, operation: &Aggregation, value: f64) {
        self.count += 1.0;
        let is_first = self.count == 1.0;
        match operation {
            Aggregation::Sum => self.sum.add(value),
            Aggregation::Minimum if is_first || value < self.summary || self.summary.is_nan() => {
                self.summary = value;
            }
            Aggregation::Maximum if is_first || value > self.summary || self.summary.is_nan() => {
                self.summary = value;
            }
            Aggregation::Average => {
                self.sum.add(value);
                let mean = self.summary;
                let stays = mean.is_infinite()
                    && (value.is_finite() || value.is_infinite() && (value > 0.0) == (mean > 0.0));
                if is_first {
                    self.summary = value;
                } else if !stays {
                    // Each is divided by itself, so that large values do not overflow.
                    self.summary += value / self.count - mean / self.count;
                }
            }
            Aggregation::StandardDeviation | Aggregation::Variance => {
                if is_first {
                    self.summary = value;
                } else {
                    let distance = value - self.summary;
                    self.summary += distance / self.count;
                    self.sum.add(distance * (value - self.summary));
                }
            }
            _ => {}
        }
    }

    fn finish(self, operation: &Aggregation) -> Option<f64> {
        (self.count > 0.0).then_some(match operation {
            Aggregation::Count | Aggregation::CountValues(_) => self.count,
            Aggregation::Group => 1.0,
            // A sum that is beyond all numbers may have a mean.
            Aggregation::Average if !self.sum.sum.is_finite() => self.summary,
            Aggregation::Average => self.sum.total() / self.count,
            Aggregation::StandardDeviation => (self.sum.total() / self.count).sqrt(),
            Aggregation::Variance => self.sum.total() / self.count,
            Aggregation::Sum => self.sum.total(),
            _ => self.summary,
        })
    }
}

/// The groups of series, in the order in which they came.
#[derive(Debug)]
struct Groups<'a> {
    labels: &'a LabelChoice,
    places: HashMap<SeriesName, usize>,
    names: Vec<SeriesName>,
}

impl<'a> Groups<'a> {
    fn new(labels: &'a LabelChoice) -> Self {
        Self { labels, places: HashMap::new(), names: Vec::new() }
    }

    /// Returns the place of a series' group.
    fn place(&mut self, series: &SeriesName) -> usize {
        *self.places.entry(self.labels.of(series)).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() - 1
        })
    }
}

/// Groups columns: the labels of each group, and the group of each column.
fn group(columns: &[Column], labels: &LabelChoice) -> (Vec<SeriesName>, Vec<usize>) {
    let mut groups = Groups::new(labels);
    let of_columns = columns.iter().map(|column| groups.place(&column.name)).collect();
    (groups.names, of_columns)
}

/// How many points of memory a group takes at a step.
pub(crate) const POINTS_OF_PARTIAL: usize = size_of::<Partial>().div_ceil(size_of::<Point>());

/// Sums, averages and the like of each group, to which series are added one after the other.
#[derive(Debug)]
pub(crate) struct Fold<'a> {
    operation: &'a Aggregation,
    steps: usize,
    groups: Groups<'a>,
    /// Of each group, at each step.
    partials: Vec<Vec<Partial>>,
}

impl<'a> Fold<'a> {
    /// Begins; `None` if the operation needs all values of a group at once.
    pub(crate) fn new(operation: &'a Aggregation, groups: &'a LabelChoice, steps: usize) -> Option<Self> {
        let needs_all = matches!(
            operation,
            Aggregation::Quantile(_)
                | Aggregation::Top(_)
                | Aggregation::Bottom(_)
                | Aggregation::CountValues(_)
        );
        (!needs_all).then(|| Self::of_any(operation, groups, steps))
    }

    fn of_any(operation: &'a Aggregation, groups: &'a LabelChoice, steps: usize) -> Self {
        Self { operation, steps, groups: Groups::new(groups), partials: Vec::new() }
    }

    /// Adds a series with its values at all steps. Returns whether it is the first of its group.
    pub(crate) fn add(&mut self, name: &SeriesName, values: &[Option<f64>]) -> bool {
        let place = self.groups.place(name);
        let is_first = place == self.partials.len();
        if is_first {
            self.partials.push(vec![Partial::default(); self.steps]);
        }
        for (partial, value) in self.partials[place].iter_mut().zip(values) {
            if let Some(value) = value {
                partial.add(self.operation, *value);
            }
        }
        is_first
    }

    /// Returns a column for each group.
    pub(crate) fn finish(self) -> Vec<Column> {
        let columns = self.groups.names.into_iter().zip(self.partials);
        let finished = |partials: Vec<Partial>| {
            partials.into_iter().map(|partial| partial.finish(self.operation)).collect()
        };
        columns.map(|(name, partials)| Column { name, values: finished(partials) }).collect()
    }
}

/// Sums, averages and the like of each group.
pub(crate) fn combine(
    operation: &Aggregation,
    groups: &LabelChoice,
    columns: &[Column],
    steps: usize,
) -> Vec<Column> {
    let mut folded = Fold::of_any(operation, groups, steps);
    for column in columns {
        folded.add(&column.name, &column.values);
    }
    folded.finish()
}

/// A quantile of each group.
pub(crate) fn quantiles(
    parts: &[f64],
    groups: &LabelChoice,
    columns: &[Column],
    limits: &Limits<'_>,
) -> Result<Vec<Column>, QueryError> {
    let (names, of_columns) = group(columns, groups);
    let mut members: Vec<Vec<&Column>> = vec![Vec::new(); names.len()];
    columns.iter().zip(of_columns).for_each(|(column, group)| members[group].push(column));
    let mut quantiles = Vec::with_capacity(names.len());
    for (name, members) in names.into_iter().zip(members) {
        if (limits.is_interrupted)() {
            return Err(QueryError::Interrupted);
        }
        let at_step = |(step, part): (usize, &f64)| {
            let values: Vec<f64> = members.iter().filter_map(|column| column.values[step]).collect();
            (!values.is_empty()).then(|| quantile(*part, values))
        };
        quantiles.push(Column { name, values: parts.iter().enumerate().map(at_step).collect() });
    }
    Ok(quantiles)
}

/// The series of each group with the greatest or least values at each step; at a single step in that order.
pub(crate) fn extremes(
    counts: &[f64],
    is_top: bool,
    groups: &LabelChoice,
    columns: Vec<Column>,
    limits: &Limits<'_>,
) -> Result<Vec<Column>, QueryError> {
    let (names, of_columns) = group(&columns, groups);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    of_columns.iter().enumerate().for_each(|(column, group)| members[*group].push(column));
    let mut kept: Vec<Column> = columns
        .iter()
        .map(|column| Column { name: column.name.clone(), values: vec![None; counts.len()] })
        .collect();
    let mut order = Vec::new();
    for group in &members {
        for (step, count) in counts.iter().enumerate() {
            if step % STEPS_UNCHECKED == 0 && (limits.is_interrupted)() {
                return Err(QueryError::Interrupted);
            }
            let mut ranked: Vec<(f64, usize)> =
                group.iter().filter_map(|column| Some((columns[*column].values[step]?, *column))).collect();
            // Stable: of equal values the first stays.
            ranked.sort_by(|(one, _), (other, _)| rank(*one, *other, is_top));
            ranked.truncate(if *count >= 1.0 { *count as usize } else { 0 });
            for (value, column) in &ranked {
                kept[*column].values[step] = Some(*value);
            }
            if counts.len() == 1 {
                order.extend(ranked.into_iter().map(|(_, column)| column));
            }
        }
    }
    if counts.len() == 1 {
        return Ok(order.into_iter().map(|column| kept[column].clone()).collect());
    }
    Ok(kept)
}

/// A column for each value that a series has, with that value as a label.
pub(crate) fn split_by_value(
    columns: Vec<Column>,
    label: &str,
    spend: impl Fn() -> Result<(), QueryError>,
) -> Result<Vec<Column>, QueryError> {
    let mut split: Vec<Column> = Vec::new();
    for column in columns {
        let mut places: HashMap<u64, usize> = HashMap::new();
        for (step, value) in column.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let place = match places.get(&value.to_bits()) {
                Some(place) => *place,
                None => {
                    spend()?;
                    let mut name = column.name.clone();
                    name.set(label, &write_in_full(*value));
                    split.push(Column { name, values: vec![None; column.values.len()] });
                    places.insert(value.to_bits(), split.len() - 1);
                    split.len() - 1
                }
            };
            split[place].values[step] = Some(*value);
        }
    }
    Ok(split)
}

/// Returns groups that are distinguished by one more label.
pub(crate) fn with_label(groups: &LabelChoice, label: &str) -> LabelChoice {
    match groups {
        LabelChoice::Only(labels) => {
            LabelChoice::Only(labels.iter().cloned().chain([label.to_owned()]).collect())
        }
        without @ LabelChoice::Without(_) => without.clone(),
    }
}

/// The greatest (or least) first, NaN last.
pub(crate) fn rank(one: f64, other: f64, is_descending: bool) -> std::cmp::Ordering {
    match (one.is_nan(), other.is_nan()) {
        (false, false) if is_descending => other.partial_cmp(&one).unwrap_or(std::cmp::Ordering::Equal),
        (false, false) => one.partial_cmp(&other).unwrap_or(std::cmp::Ordering::Equal),
        (one, other) => one.cmp(&other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of one group of series with these values.
    fn combined(operation: &Aggregation, values: impl Iterator<Item = f64>) -> f64 {
        let columns: Vec<_> =
            values.map(|value| Column { name: SeriesName::default(), values: vec![Some(value)] }).collect();
        combine(operation, &LabelChoice::Only(Vec::new()), &columns, 1)[0].values[0].unwrap()
    }

    #[test]
    fn sums_do_not_depend_on_the_order_of_series() {
        let values: Vec<f64> = (1..=100).map(|place| 1.0 / f64::from(place)).collect();
        for operation in [Aggregation::Sum, Aggregation::Average] {
            let there = combined(&operation, values.iter().copied());
            let back = combined(&operation, values.iter().rev().copied());
            assert_eq!(there.to_bits(), back.to_bits(), "{operation:?}");
        }
        assert_eq!(combined(&Aggregation::Sum, [1e16, 1.0, -1e16].into_iter()), 1.0);
        assert_eq!(combined(&Aggregation::Average, [1e308, 1e308].into_iter()), 1e308);
    }
}
