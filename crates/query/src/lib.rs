//! Questions about series: a named subset of PromQL (docs/QUERY.md), over any source of series.
//!
//! `promql-parser` parses; what an expression means is decided here, and held against Prometheus itself in a test. Pure: time, files and
//! limits are the caller's.

#![forbid(unsafe_code)]

mod aggregate;
mod call;
mod elementwise;
mod error;
mod evaluate;
mod expression;
mod function;
mod histogram;
mod kind;
mod limits;
mod matching;
pub mod number;
mod operate;
mod over_time;
mod parse;
mod patterns;
mod place;
mod quantity;
mod ranges;
mod restrict;
mod samples;
mod source;
mod sum;
mod value;

use std::cell::Cell;

use evaluate::{Evaluation, is_ordered};
use kind::Kind;
use value::{Column, Evaluated, Steps};

pub use error::{Fault, QueryError};
pub use expression::{Condition, LabelChoice, Matcher};
pub use limits::Limits;
pub use quantity::Quantity;
pub use samples::{Point, STALE_BITS, Samples, is_stale};
pub use source::{OwnedSelection, Selection, Series, Source, StepAfter, Sums};
pub use value::Answer;

/// The most steps of an answer over time, Prometheus' own limit.
pub const MAX_STEPS: i64 = 11_000;

/// An expression that can be evaluated.
#[derive(Clone, Debug)]
pub struct Query {
    expression: expression::Expression,
}

impl Query {
    /// Parses an expression.
    ///
    /// # Errors
    /// What is wrong in it, or not in the subset, and where.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text).map(|expression| Self { expression }).map_err(QueryError::Malformed)
    }

    /// The metrics whose series it reads; `None` if a selector does not name one.
    pub fn metrics(&self) -> Option<Vec<String>> {
        let mut metrics = Some(Vec::new());
        self.expression.each_selector(
            &mut |matchers| match (&mut metrics, expression::metric_of(matchers)) {
                (Some(metrics), Some(name)) => metrics.push(name.to_owned()),
                (_, None) => metrics = None,
                (None, _) => {}
            },
        );
        metrics
    }

    /// Returns whether its answer is series or a number, so that it has one at each step of a time.
    pub fn has_steps(&self) -> bool {
        matches!(self.expression.kind(), Kind::Scalar | Kind::Vector)
    }

    /// The metrics whose unit its values have; none for a constant. `None`: the values have no unit, or no metric has it.
    pub fn quantities(&self) -> Option<Vec<Quantity>> {
        quantity::of(&self.expression)
    }

    /// Its answer at an instant in milliseconds since 1970.
    ///
    /// # Errors
    /// Why there is none.
    pub fn at(&self, source: &dyn Source, at_ms: i64, limits: &Limits<'_>) -> Result<Answer, QueryError> {
        let steps = Steps { first_ms: at_ms, step_ms: 1, count: 1 };
        let evaluation = Evaluation { source, limits, asked: steps, points: Cell::new(0) };
        if let expression::Expression::Range(range) = &self.expression {
            return evaluation.range_at(range, steps).map(Answer::Matrix);
        }
        Ok(match evaluation.evaluate(&self.expression, steps)? {
            Evaluated::Scalar(values) => {
                Answer::Scalar(Point { at_ms, value: values.first().copied().unwrap_or(f64::NAN) })
            }
            Evaluated::Text(text) => Answer::Text(text),
            Evaluated::Vector(columns) => {
                let value = |column: Column| {
                    let value = column.values.first().copied().flatten()?;
                    Some((column.name, Point { at_ms, value }))
                };
                let mut values: Vec<_> = columns.into_iter().filter_map(value).collect();
                if !is_ordered(&self.expression) {
                    values.sort_by(|(one, _), (other, _)| one.cmp(other));
                }
                Answer::Vector(values)
            }
        })
    }

    /// Its answer at every step between two instants, in milliseconds since 1970.
    ///
    /// # Errors
    /// Why there is none; a text and a range have none.
    pub fn between(
        &self,
        source: &dyn Source,
        [from_ms, to_ms]: [i64; 2],
        step_ms: i64,
        limits: &Limits<'_>,
    ) -> Result<Answer, QueryError> {
        if step_ms <= 0 {
            return Err(QueryError::Malformed(Fault::new("a step must be longer than 0")));
        }
        if to_ms < from_ms {
            return Err(QueryError::Malformed(Fault::new("the end is before the start")));
        }
        if to_ms.saturating_sub(from_ms) / step_ms > MAX_STEPS {
            return Err(QueryError::Malformed(Fault::new(format!(
                "exceeded maximum resolution of {MAX_STEPS} points per timeseries: take a longer step"
            ))));
        }
        if let kind @ (Kind::Text | Kind::Range) = self.expression.kind() {
            let kind = if kind == Kind::Text { "string" } else { "range vector" };
            return Err(QueryError::Malformed(Fault::new(format!(
                "invalid expression type \"{kind}\" for range query, must be Scalar or instant Vector"
            ))));
        }
        let steps = Steps::between(from_ms, to_ms, step_ms);
        // end() is the end that was asked for, whether a step gets there or not.
        let asked = Steps {
            first_ms: from_ms,
            step_ms: (to_ms - from_ms).max(1),
            count: if to_ms > from_ms { 2 } else { 1 },
        };
        let evaluation = Evaluation { source, limits, asked, points: Cell::new(0) };
        let columns = match evaluation.evaluate(&self.expression, steps)? {
            Evaluated::Scalar(values) => {
                vec![Column { name: Default::default(), values: values.into_iter().map(Some).collect() }]
            }
            Evaluated::Text(_) => Vec::new(),
            Evaluated::Vector(columns) => columns,
        };
        let mut series: Vec<_> = columns
            .into_iter()
            .map(|column| {
                let points = steps.iter().zip(column.values);
                let points = points.filter_map(|(at_ms, value)| value.map(|value| Point { at_ms, value }));
                (column.name, points.collect::<Vec<_>>())
            })
            .filter(|(_, points)| !points.is_empty())
            .collect();
        series.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Answer::Matrix(series))
    }
}

/// Adds `label="value"` to each selector of an expression, and other matchers as they stand between braces, so that it reads no other series.
///
/// # Errors
/// What is wrong in it, or not in the subset, and where.
pub fn restricted(text: &str, equal: (&str, &str), others: &str) -> Result<String, QueryError> {
    restrict::restricted(text, equal, others).map_err(QueryError::Malformed)
}

/// Parses a selector of series, such as `up{job="node"}`.
///
/// # Errors
/// What is wrong in it, and where.
pub fn parse_selector(text: &str) -> Result<Vec<Matcher>, QueryError> {
    parse::parse_selector(text).map_err(QueryError::Malformed)
}

/// Parses a duration, such as `1h30m`. Returns milliseconds.
///
/// # Errors
/// What is wrong with it.
pub fn parse_duration(text: &str) -> Result<i64, QueryError> {
    parse::parse_duration(text).map_err(QueryError::Malformed)
}

/// The names of all functions, in order.
pub fn functions() -> impl Iterator<Item = &'static str> {
    function::FUNCTIONS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use formats::series_name::SeriesName;

    use super::*;

    struct Nothing;

    impl Source for Nothing {
        fn select(&self, _selection: &Selection<'_>) -> Result<Vec<Series>, String> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn metrics_are_named_by_every_selector() {
        let metrics = |text: &str| Query::parse(text).unwrap().metrics();
        let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(metrics("rate(a[1m]) + on () topk(scalar(b), {__name__=\"c\"})"), named(&["a", "c", "b"]));
        assert_eq!(metrics("max_over_time((a > bool 1)[1h:1m])"), named(&["a"]));
        assert_eq!(metrics("1 + time()"), named(&[]));
        for text in ["{a=\"b\"}", "a or {__name__=~\"x.*\"}", "sum({__name__!=\"x\",a=\"b\"})"] {
            assert_eq!(metrics(text), None, "{text}");
        }
    }

    /// A counter that was at a value before it was counted on, and grows from the second 2 on.
    struct Counter {
        before: f64,
        is_held: bool,
    }

    impl Source for Counter {
        fn select(&self, _selection: &Selection<'_>) -> Result<Vec<Series>, String> {
            let values = [0.0, 0.0, 1.0, 3.0, 4.0].map(|grown| self.before + grown);
            let times_ms = [500, 1500, 2500, 3500, 4500];
            let samples = match self.is_held {
                true => {
                    let changes = [(0, values[0]), (2, values[2]), (3, values[3]), (4, values[4])];
                    Samples::Held { times_ms: times_ms.into(), changes: changes.into() }
                }
                false => {
                    let point = |(at_ms, value)| Point { at_ms, value };
                    times_ms.into_iter().zip(values).map(point).collect()
                }
            };
            Ok(vec![Series { name: SeriesName::new("counter"), samples }])
        }
    }

    #[test]
    fn a_held_counter_grows_alike_from_any_value() {
        let increase = |before, is_held| {
            let answer = Query::parse("increase(counter[5s])").unwrap();
            match answer.at(&Counter { before, is_held }, 5000, &Limits::default()).unwrap() {
                Answer::Vector(columns) => columns[0].1.value,
                other => panic!("{other:?}"),
            }
        };
        // Half an interval more at both ends. By itself it may have begun with its first sample, where it is 0.
        for (before, is_held, expected) in
            [(0.0, true, 5.0), (8.0, true, 5.0), (8.0, false, 5.0), (0.0, false, 4.5)]
        {
            let found = increase(before, is_held);
            assert_eq!(found, expected, "from {before}, held: {is_held}");
        }
    }

    #[test]
    fn every_part_of_an_expression_is_counted() {
        let limits = Limits { most_points: 1_000_000, ..Limits::default() };
        for text in [
            "sum_over_time((vector(1) + 1 + 1 + 1)[400000ms:1ms])",
            "sum_over_time((label_replace(vector(1), \"a\", \"0\", \"\", \"\") or vector(2))[400000ms:1ms])",
            "count_over_time((vector(time()) + vector(2))[400000ms:1ms])",
        ] {
            let answer = Query::parse(text).unwrap().at(&Nothing, 0, &limits);
            assert!(matches!(answer, Err(QueryError::TooLarge(_))), "{text}: {answer:?}");
        }
        // The bytes of labels are counted before they are allocated.
        let join = |of: &str| format!("label_join({of}, \"a\", \",\"{})", ", \"a\"".repeat(400));
        let replace =
            |of: &str| format!("label_replace({of}, \"a\", \"{}\", \"a\", \"(.*)\")", "$1".repeat(400));
        let seed = format!("label_replace(vector(1), \"a\", \"{}\", \"\", \"\")", "x".repeat(1000));
        for text in [join(&join(&join(&seed))), replace(&replace(&replace(&seed)))] {
            let answer =
                Query::parse(&text).unwrap().at(&Nothing, 0, &Limits { most_points: 8_000_000, ..limits });
            assert!(matches!(answer, Err(QueryError::TooLarge(_))), "{answer:?}");
        }
        let text = "count_values(\"v\", vector(time()))";
        let answer = Query::parse(text).unwrap().between(&Nothing, [0, 10_000_000], 1000, &limits);
        assert!(matches!(answer, Err(QueryError::TooLarge(_))), "{answer:?}");
        let is_interrupted = || true;
        let limits = Limits { is_interrupted: &is_interrupted, ..Limits::default() };
        let answer = Query::parse("1 + 1").unwrap().at(&Nothing, 0, &limits);
        assert!(matches!(answer, Err(QueryError::Interrupted)), "{answer:?}");
    }
}
