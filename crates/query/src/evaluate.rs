//! Evaluates expressions, all steps at once.

use std::cell::Cell;

use formats::series_name::{METRIC, SeriesName, is_label};

use crate::aggregate::Fold;
use crate::error::{QueryError, unanswerable};
use crate::expression::{
    Aggregate, Aggregation, At, Binary, Expression, Matcher, Operator, Range, Selector, Shift,
};
use crate::function::{Function, OverTime};
use crate::limits::Limits;
use crate::samples::Point;
use crate::source::{Selection, Series, Source, StepAfter, Sums};
use crate::value::{Column, Evaluated, Steps, merge_same};
use crate::{aggregate, matching, operate};

/// An evaluation of one expression.
pub(crate) struct Evaluation<'s> {
    pub(crate) source: &'s dyn Source,
    pub(crate) limits: &'s Limits<'s>,
    /// The times that were asked for, which `start()` and `end()` mean.
    pub(crate) asked: Steps,
    pub(crate) points: Cell<usize>,
}

impl Evaluation<'_> {
    /// The value of an expression at each step.
    pub(crate) fn evaluate(&self, expression: &Expression, steps: Steps) -> Result<Evaluated, QueryError> {
        let evaluated = self.evaluate_node(expression, steps)?;
        // Of a selector they were counted before they were made.
        let columns = match &evaluated {
            Evaluated::Vector(_) if matches!(expression, Expression::Select(_)) => 0,
            Evaluated::Vector(columns) => columns.len(),
            Evaluated::Scalar(_) => 1,
            Evaluated::Text(_) => 0,
        };
        self.spend(columns.saturating_mul(steps.count))?;
        if let Evaluated::Vector(columns) = &evaluated {
            self.spend_bytes(columns.iter().map(|column| column.name.memory_bytes()).sum())?;
        }
        Ok(evaluated)
    }

    fn evaluate_node(&self, expression: &Expression, steps: Steps) -> Result<Evaluated, QueryError> {
        Ok(match expression {
            Expression::Number(number) => Evaluated::Scalar(vec![*number; steps.count]),
            Expression::Text(text) => Evaluated::Text(text.clone()),
            Expression::Select(selector) => {
                Evaluated::Vector(self.select(selector, steps, |point| point.value)?)
            }
            Expression::Range(_) => return unanswerable("a range is an argument of a function"),
            Expression::Negate(of) => match self.evaluate(of, steps)? {
                Evaluated::Scalar(values) => {
                    Evaluated::Scalar(values.into_iter().map(|value| -value).collect())
                }
                Evaluated::Vector(columns) => Evaluated::Vector(self.map(columns, |_, value| Some(-value))?),
                text @ Evaluated::Text(_) => text,
            },
            Expression::Binary(binary) => self.binary(binary, steps)?,
            Expression::Aggregate(aggregate) => Evaluated::Vector(self.aggregate(aggregate, steps, None)?),
            Expression::Call(function, arguments) => self.call(*function, arguments, steps)?,
        })
    }

    pub(crate) fn vector(&self, expression: &Expression, steps: Steps) -> Result<Vec<Column>, QueryError> {
        match self.evaluate(expression, steps)? {
            Evaluated::Vector(columns) => Ok(columns),
            _ => unanswerable("expected an instant vector"),
        }
    }

    pub(crate) fn scalar(&self, expression: &Expression, steps: Steps) -> Result<Vec<f64>, QueryError> {
        match self.evaluate(expression, steps)? {
            Evaluated::Scalar(values) => Ok(values),
            _ => unanswerable("expected a scalar"),
        }
    }

    /// Counts points in memory; fails beyond the limit, or if interrupted.
    pub(crate) fn spend(&self, points: usize) -> Result<(), QueryError> {
        self.points.set(self.points.get().saturating_add(points));
        if self.points.get() > self.limits.most_points {
            let most = self.limits.most_points;
            return Err(QueryError::TooLarge(format!(
                "the expression needs more than {most} samples in memory, labels counted by their bytes: ask for fewer series, less time or longer steps"
            )));
        }
        if (self.limits.is_interrupted)() { Err(QueryError::Interrupted) } else { Ok(()) }
    }

    /// Counts bytes of labels as samples.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> Result<(), QueryError> {
        self.spend(bytes / size_of::<Point>())
    }

    /// The instant that a selector means at a step.
    pub(crate) fn instant(&self, shift: Shift, at_ms: i64) -> i64 {
        let at_ms = match shift.at {
            None => at_ms,
            Some(At::Time(at_ms)) => at_ms,
            Some(At::Start) => self.asked.first_ms,
            Some(At::End) => self.asked.last_ms(),
        };
        at_ms.saturating_sub(shift.offset_ms)
    }

    /// Reads the series that a selector needs.
    pub(crate) fn read(
        &self,
        matchers: &[Matcher],
        from_ms: i64,
        to_ms: i64,
        kind: Reading<'_>,
    ) -> Result<Vec<Series>, QueryError> {
        let is_newest = kind == Reading::Newest;
        let step_after = match kind {
            Reading::Steps(steps) => Some(steps),
            _ => None,
        };
        let (is_range, sums) = match kind {
            Reading::Range(sums) => (true, sums),
            _ => (false, None),
        };
        let limits = self.limits;
        let selection = Selection { matchers, from_ms, to_ms, is_newest, step_after, is_range, sums, limits };
        let selected = self.source.select(&selection);
        if (self.limits.is_interrupted)() {
            return Err(QueryError::Interrupted);
        }
        let mut series = selected.map_err(QueryError::Unreadable)?;
        self.spend(series.iter().map(|series| series.samples.stored()).sum())?;
        self.spend_bytes(series.iter().map(|series| series.name.memory_bytes()).sum())?;
        series.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(series)
    }

    /// Something of the newest sample of each series at each step.
    pub(crate) fn select(
        &self,
        selector: &Selector,
        steps: Steps,
        value: impl Fn(Point) -> f64,
    ) -> Result<Vec<Column>, QueryError> {
        let instant = |at_ms| self.instant(selector.shift, at_ms);
        let from_ms = instant(steps.first_ms).saturating_sub(self.limits.lookback_ms);
        let is_one = steps.count == 1 || selector.shift.at.is_some();
        let after = StepAfter { first_ms: instant(steps.first_ms), step_ms: steps.step_ms };
        let kind = if is_one { Reading::Newest } else { Reading::Steps(after) };
        let series = self.read(&selector.matchers, from_ms, instant(steps.last_ms()), kind)?;
        self.spend(series.len() * steps.count)?;
        let column = |series: Series| {
            let newest = |at_ms: i64| {
                let at_ms = instant(at_ms);
                series.samples.newest(at_ms.saturating_sub(self.limits.lookback_ms), at_ms).map(&value)
            };
            Column { values: steps.iter().map(newest).collect(), name: series.name }
        };
        Ok(series.into_iter().map(column).collect())
    }

    /// Another value in place of each, of another metric.
    pub(crate) fn map(
        &self,
        mut columns: Vec<Column>,
        value: impl Fn(usize, f64) -> Option<f64>,
    ) -> Result<Vec<Column>, QueryError> {
        for column in &mut columns {
            column.name.set(METRIC, "");
            for (step, slot) in column.values.iter_mut().enumerate() {
                *slot = slot.and_then(|old| value(step, old));
            }
        }
        merge_same(columns)
    }

    fn binary(&self, binary: &Binary, steps: Steps) -> Result<Evaluated, QueryError> {
        let left = self.evaluate(&binary.left, steps)?;
        let right = self.evaluate(&binary.right, steps)?;
        Ok(match (left, right) {
            (Evaluated::Scalar(left), Evaluated::Scalar(right)) => {
                let values = left.into_iter().zip(right);
                let operate = |(left, right)| match binary.operator {
                    Operator::Comparison(operator) => {
                        operate::as_number(operate::holds(operator, left, right))
                    }
                    _ => matching::operate(binary, left, right, left).unwrap_or(f64::NAN),
                };
                Evaluated::Scalar(values.map(operate).collect())
            }
            (Evaluated::Vector(columns), Evaluated::Scalar(scalars)) => {
                let value = |step: usize, value| matching::operate(binary, value, scalars[step], value);
                Evaluated::Vector(self.with_scalar(binary, columns, value)?)
            }
            (Evaluated::Scalar(scalars), Evaluated::Vector(columns)) => {
                let value = |step: usize, value| matching::operate(binary, scalars[step], value, value);
                Evaluated::Vector(self.with_scalar(binary, columns, value)?)
            }
            (Evaluated::Vector(left), Evaluated::Vector(right)) => Evaluated::Vector(match binary.operator {
                Operator::Set(operator) => {
                    matching::of_sets(operator, &binary.matching.labels, left, right, steps.count)?
                }
                _ => matching::between_vectors(binary, &left, &right, steps.count, self.limits)?,
            }),
            _ => return unanswerable("a text is no operand"),
        })
    }

    fn with_scalar(
        &self,
        binary: &Binary,
        mut columns: Vec<Column>,
        value: impl Fn(usize, f64) -> Option<f64>,
    ) -> Result<Vec<Column>, QueryError> {
        if matching::drops_metric(binary) {
            return self.map(columns, value);
        }
        for column in &mut columns {
            for (step, slot) in column.values.iter_mut().enumerate() {
                *slot = slot.and_then(|old| value(step, old));
            }
        }
        Ok(columns)
    }

    /// Evaluates an aggregation. `largest`: only so many of its largest values are wanted.
    fn aggregate(
        &self,
        aggregate: &Aggregate,
        steps: Steps,
        largest: Option<usize>,
    ) -> Result<Vec<Column>, QueryError> {
        let groups = &aggregate.groups;
        if let Some((function, range)) = range_of(&aggregate.of)
            && range.is_of_one_metric()
            && let Some(mut folded) = Fold::new(&aggregate.operation, groups, steps.count)
        {
            // What counters have grown adds up before as well as after.
            let adds_up = matches!(aggregate.operation, Aggregation::Sum)
                && matches!(function, OverTime::Rate | OverTime::Increase);
            let sums = adds_up.then_some(Sums { by: groups, largest, is_of_one_window: steps.count == 1 });
            let fold = |name: SeriesName, values: &[Option<f64>]| match folded.add(&name, values) {
                true => self.spend(steps.count.saturating_mul(aggregate::POINTS_OF_PARTIAL)),
                false => Ok(()),
            };
            self.each_over_time(function, range, &[], steps, sums, fold)?;
            return Ok(folded.finish());
        }
        let mut columns = match (&aggregate.operation, &aggregate.of) {
            (Aggregation::Top(Expression::Number(count)), Expression::Aggregate(sum))
                if steps.count == 1 && groups.is_empty() =>
            {
                self.aggregate(sum, steps, whole_number(*count))?
            }
            (_, of) => self.vector(of, steps)?,
        };
        Ok(match &aggregate.operation {
            Aggregation::Quantile(part) => {
                aggregate::quantiles(&self.scalar(part, steps)?, groups, &columns, self.limits)?
            }
            Aggregation::Top(count) | Aggregation::Bottom(count) => {
                let counts = self.scalar(count, steps)?;
                if let Some(count) =
                    counts.iter().find(|count| count.is_nan() || count.abs() >= i64::MAX as f64)
                {
                    return unanswerable(format!("Scalar value {count} overflows int64"));
                }
                let is_top = matches!(aggregate.operation, Aggregation::Top(_));
                aggregate::extremes(&counts, is_top, groups, columns, self.limits)?
            }
            Aggregation::CountValues(label) if !is_label(label) => {
                return unanswerable(format!("invalid label name \"{label}\""));
            }
            Aggregation::CountValues(label) => {
                columns = aggregate::split_by_value(columns, label, || self.spend(steps.count))?;
                aggregate::combine(
                    &aggregate.operation,
                    &aggregate::with_label(groups, label),
                    &columns,
                    steps.count,
                )
            }
            operation => aggregate::combine(operation, groups, &columns, steps.count),
        })
    }
}

/// Returns a function of the samples in a range, and the range, if an expression is that.
fn range_of(expression: &Expression) -> Option<(OverTime, &Range)> {
    match expression {
        Expression::Call(Function::OverTime(function), arguments) => match &arguments[..] {
            [Expression::Range(range)] => Some((*function, range)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns how many values `topk` returns; `None` if that is none or very many.
fn whole_number(count: f64) -> Option<usize> {
    (1.0..=1000.0).contains(&count).then_some(count as usize)
}

/// How a series is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading<'e> {
    Newest,
    /// The newest sample of each step.
    Steps(StepAfter),
    /// All samples of a range, or sums of them.
    Range(Option<Sums<'e>>),
}

/// Returns whether the answer keeps its order; others are sorted by name.
pub(crate) fn is_ordered(expression: &Expression) -> bool {
    match expression {
        Expression::Call(Function::Sort | Function::SortDescending, _) => true,
        Expression::Aggregate(aggregate) => {
            matches!(aggregate.operation, Aggregation::Top(_) | Aggregation::Bottom(_))
        }
        _ => false,
    }
}
