//! The values that expressions evaluate to.

use std::collections::HashMap;

use formats::series_name::SeriesName;

use crate::error::{QueryError, unanswerable};
use crate::samples::Point;

/// The instants for which an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    pub(crate) first_ms: i64,
    pub(crate) step_ms: i64,
    pub(crate) count: usize,
}

impl Steps {
    /// From one instant to another, both included if steps get there.
    pub(crate) fn between(first_ms: i64, last_ms: i64, step_ms: i64) -> Self {
        let count = last_ms
            .checked_sub(first_ms)
            .filter(|length| *length >= 0)
            .map_or(0, |length| length / step_ms + 1);
        Self { first_ms, step_ms, count: count as usize }
    }

    pub(crate) fn at(self, place: usize) -> i64 {
        self.first_ms + self.step_ms * place as i64
    }

    pub(crate) fn last_ms(self) -> i64 {
        self.at(self.count.saturating_sub(1))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = i64> {
        (0..self.count).map(move |place| self.at(place))
    }
}

/// One series' value at each step; `None` where it has none.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: SeriesName,
    pub(crate) values: Vec<Option<f64>>,
}

/// The value of an expression at each step.
#[derive(Clone, Debug)]
pub(crate) enum Evaluated {
    Scalar(Vec<f64>),
    Text(String),
    Vector(Vec<Column>),
}

/// Makes one column of those that have the same labels, which they must not have at the same step.
pub(crate) fn merge_same(columns: Vec<Column>) -> Result<Vec<Column>, QueryError> {
    let mut places: HashMap<SeriesName, usize> = HashMap::with_capacity(columns.len());
    let mut merged: Vec<Column> = Vec::with_capacity(columns.len());
    for column in columns {
        let Some(place) = places.get(&column.name) else {
            places.insert(column.name.clone(), merged.len());
            merged.push(column);
            continue;
        };
        for (into, value) in merged[*place].values.iter_mut().zip(column.values) {
            match (&into, value) {
                (Some(_), Some(_)) => {
                    return unanswerable("vector cannot contain metrics with the same labelset");
                }
                (None, value) => *into = value,
                (Some(_), None) => {}
            }
        }
    }
    Ok(merged)
}

/// Refuses columns with the same labels, at whatever steps they have values.
pub(crate) fn refuse_same(columns: &[Column]) -> Result<(), QueryError> {
    let mut names: Vec<&SeriesName> = columns.iter().map(|column| &column.name).collect();
    names.sort_unstable();
    match names.windows(2).any(|pair| pair[0] == pair[1]) {
        true => unanswerable("vector cannot contain metrics with the same labelset"),
        false => Ok(()),
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A number at an instant.
    Scalar(Point),
    /// A text.
    Text(String),
    /// A value of each series at an instant.
    Vector(Vec<(SeriesName, Point)>),
    /// Values of each series over time.
    Matrix(Vec<(SeriesName, Vec<Point>)>),
}
