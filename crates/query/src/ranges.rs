//! Ranges of samples, and functions of them.

use formats::series_name::{METRIC, SeriesName};

use crate::error::{QueryError, unanswerable};
use crate::evaluate::{Evaluation, Reading};
use crate::expression::{Range, RangeOf};
use crate::function::OverTime;
use crate::over_time;
use crate::samples::Point;
use crate::source::{Series, Sums};
use crate::value::{Column, Evaluated, Steps, refuse_same};

/// The number of steps between two checks for interruption.
const STEPS_PER_CHECK: usize = 16;

impl Evaluation<'_> {
    /// The series of a range.
    pub(crate) fn range(
        &self,
        range: &Range,
        steps: Steps,
        sums: Option<Sums<'_>>,
    ) -> Result<Vec<Series>, QueryError> {
        let from_ms = self.instant(range.shift, steps.first_ms).saturating_sub(range.length_ms);
        let to_ms = self.instant(range.shift, steps.last_ms());
        match &range.of {
            RangeOf::Series(matchers) => self.read(matchers, from_ms, to_ms, Reading::Range(sums)),
            RangeOf::Expression { inner, step_ms } => {
                let step_ms = step_ms.unwrap_or(self.limits.usual_step_ms);
                // Multiples of the step since 1970, as in Prometheus.
                let first_ms = from_ms.div_euclid(step_ms).saturating_mul(step_ms);
                let first_ms = if first_ms < from_ms { first_ms.saturating_add(step_ms) } else { first_ms };
                let inner_steps = Steps::between(first_ms, to_ms, step_ms);
                self.spend(inner_steps.count)?;
                let columns = match self.evaluate(inner, inner_steps)? {
                    Evaluated::Vector(columns) => columns,
                    Evaluated::Scalar(values) => {
                        let values = values.into_iter().map(Some).collect();
                        vec![Column { name: SeriesName::default(), values }]
                    }
                    Evaluated::Text(_) => return unanswerable("a range of texts"),
                };
                let series = columns.into_iter().map(|column| {
                    let points = inner_steps.iter().zip(column.values);
                    let points =
                        points.filter_map(|(at_ms, value)| value.map(|value| Point { at_ms, value }));
                    Series { name: column.name, samples: points.collect() }
                });
                Ok(series.collect())
            }
        }
    }

    /// All samples of each series in a range before an instant.
    pub(crate) fn range_at(
        &self,
        range: &Range,
        steps: Steps,
    ) -> Result<Vec<(SeriesName, Vec<Point>)>, QueryError> {
        let to_ms = self.instant(range.shift, steps.first_ms);
        let from_ms = to_ms.saturating_sub(range.length_ms);
        let series = self.range(range, steps, None)?.into_iter();
        let series = series.map(|series| (series.name, series.samples.points(from_ms, to_ms)));
        let series: Vec<_> = series.filter(|(_, points)| !points.is_empty()).collect();
        self.spend(series.iter().map(|(_, points)| points.len()).sum())?;
        Ok(series)
    }

    /// A function of a range, at each step.
    pub(crate) fn over_time(
        &self,
        function: OverTime,
        range: &Range,
        argument: &[f64],
        steps: Steps,
    ) -> Result<Vec<Column>, QueryError> {
        let mut columns = Vec::new();
        let push = |name, values: &[Option<f64>]| {
            columns.push(Column { name, values: values.to_vec() });
            self.spend(steps.count)
        };
        self.each_over_time(function, range, argument, steps, None, push)?;
        refuse_same(&columns)?;
        Ok(columns)
    }

    /// Hands out a function of a range at each step, series by series, so that what only adds them up needs no memory for each.
    pub(crate) fn each_over_time(
        &self,
        function: OverTime,
        range: &Range,
        argument: &[f64],
        steps: Steps,
        sums: Option<Sums<'_>>,
        mut take: impl FnMut(SeriesName, &[Option<f64>]) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        let series = self.range(range, steps, sums)?;
        // At a fixed instant it is the same at each step, unless it depends on the step's own.
        let is_fixed = range.shift.at.is_some() && function != OverTime::PredictLinear && argument.is_empty();
        let mut runs = Vec::new();
        let mut values = vec![None; steps.count];
        for Series { mut name, samples } in series {
            let mut at_step = |place: usize| {
                let at_ms = steps.at(place);
                let to_ms = self.instant(range.shift, at_ms);
                let from_ms = to_ms.saturating_sub(range.length_ms);
                // Most series of a machine that starts many processes are short.
                if !samples.may_lie_in(from_ms, to_ms) {
                    return None;
                }
                samples.runs(from_ms, to_ms, &mut runs);
                let argument = argument.get(place).copied().unwrap_or(f64::NAN);
                let may_begin = samples.may_begin();
                let runs = &runs;
                let window = over_time::Window { runs, from_ms, to_ms, at_ms, argument, may_begin };
                over_time::apply(function, &window)
            };
            if is_fixed && steps.count > 0 {
                values.fill(at_step(0));
            } else {
                for (place, value) in values.iter_mut().enumerate() {
                    if place % STEPS_PER_CHECK == 0 && (self.limits.is_interrupted)() {
                        return Err(QueryError::Interrupted);
                    }
                    *value = at_step(place);
                }
            }
            if function != OverTime::Last {
                name.set(METRIC, "");
            }
            if values.iter().any(Option::is_some) {
                take(name, &values)?;
            }
        }
        Ok(())
    }
}
