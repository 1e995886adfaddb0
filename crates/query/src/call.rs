//! Calls of functions.

use formats::re2::{WholeRegex, expand};
use formats::series_name::{METRIC, SeriesName, is_label};

use crate::aggregate::rank;
use crate::elementwise::{self, usual_scalar};
use crate::error::{QueryError, unanswerable};
use crate::evaluate::Evaluation;
use crate::expression::{Condition, Expression, Matcher, Range, RangeOf};
use crate::function::{Function, OverTime};
use crate::histogram;
use crate::value::{Column, Evaluated, Steps, merge_same};

impl Evaluation<'_> {
    pub(crate) fn call(
        &self,
        function: Function,
        arguments: &[Expression],
        steps: Steps,
    ) -> Result<Evaluated, QueryError> {
        // The parser has checked how many there are.
        let argument = |place: usize| match arguments.get(place) {
            Some(argument) => Ok(argument),
            None => unanswerable("an argument is missing"),
        };
        let vector = |place| self.vector(argument(place)?, steps);
        let seconds = || steps.iter().map(|at_ms| at_ms as f64 / 1000.0);
        Ok(Evaluated::Vector(match function {
            Function::Time => return Ok(Evaluated::Scalar(seconds().collect())),
            Function::Scalar => return Ok(Evaluated::Scalar(only_value(&vector(0)?, steps))),
            Function::Vector => {
                let values = self.scalar(argument(0)?, steps)?.into_iter().map(Some).collect();
                vec![Column { name: SeriesName::default(), values }]
            }
            Function::OverTime(function) => self.call_over_time(function, arguments, steps)?,
            Function::Elementwise(function) => {
                let columns = vector(0)?;
                let mut scalars = [vec![usual_scalar(function); steps.count], vec![f64::NAN; steps.count]];
                for (scalars, argument) in scalars.iter_mut().zip(&arguments[1..]) {
                    *scalars = self.scalar(argument, steps)?;
                }
                self.map(columns, |step, value| {
                    elementwise::apply(function, value, [scalars[0][step], scalars[1][step]])
                })?
            }
            Function::Date(part) => match arguments {
                [] => {
                    let values = seconds().map(|at| Some(elementwise::date(part, at))).collect();
                    vec![Column { name: SeriesName::default(), values }]
                }
                _ => self.map(vector(0)?, |_, value| Some(elementwise::date(part, value)))?,
            },
            Function::Timestamp => match argument(0)? {
                Expression::Select(selector) => {
                    let columns = self.select(selector, steps, |point| point.at_ms as f64 / 1000.0)?;
                    self.map(columns, |_, value| Some(value))?
                }
                other => {
                    self.map(self.vector(other, steps)?, |step, _| Some(steps.at(step) as f64 / 1000.0))?
                }
            },
            Function::Absent => {
                let name = match argument(0)? {
                    Expression::Select(selector) => Self::wanted_labels(&selector.matchers),
                    _ => SeriesName::default(),
                };
                let columns = vector(0)?;
                let is_absent = |step: usize| columns.iter().all(|column| column.values[step].is_none());
                vec![Column {
                    name,
                    values: (0..steps.count).map(|step| is_absent(step).then_some(1.0)).collect(),
                }]
            }
            Function::AbsentOverTime => {
                let range = range(argument(0)?)?;
                let name = match &range.of {
                    RangeOf::Series(matchers) => Self::wanted_labels(matchers),
                    RangeOf::Expression { .. } => SeriesName::default(),
                };
                let is_present = self.is_present(range, steps)?;
                vec![Column { name, values: is_present.into_iter().map(|is| (!is).then_some(1.0)).collect() }]
            }
            Function::HistogramQuantile => {
                let parts = self.scalar(argument(0)?, steps)?;
                histogram::quantiles(&parts, &vector(1)?)?
            }
            Function::LabelReplace => self.label_replace(vector(0)?, &texts(&arguments[1..])?)?,
            Function::LabelJoin => self.label_join(vector(0)?, &texts(&arguments[1..])?)?,
            Function::Sort => sort(vector(0)?, false),
            Function::SortDescending => sort(vector(0)?, true),
        }))
    }

    fn call_over_time(
        &self,
        function: OverTime,
        arguments: &[Expression],
        steps: Steps,
    ) -> Result<Vec<Column>, QueryError> {
        let (of, scalar) = match arguments {
            [of] => (of, None),
            [scalar, of] if function == OverTime::Quantile => (of, Some(scalar)),
            [of, scalar] => (of, Some(scalar)),
            _ => return unanswerable("expected a range"),
        };
        let scalars = scalar.map(|scalar| self.scalar(scalar, steps)).transpose()?;
        self.over_time(function, range(of)?, &scalars.unwrap_or_default(), steps)
    }

    fn label_replace(&self, mut columns: Vec<Column>, texts: &[&str]) -> Result<Vec<Column>, QueryError> {
        let [target, replacement, source, pattern] = texts else {
            return unanswerable("label_replace needs four texts");
        };
        let regex = WholeRegex::new(pattern).map_err(|message| {
            QueryError::Unanswerable(format!(
                "invalid regular expression in label_replace(): {pattern}: {message}"
            ))
        })?;
        if !is_label(target) {
            return unanswerable(format!("invalid destination label name in label_replace(): {target}"));
        }
        for column in &mut columns {
            let value = column.name.get(source).to_owned();
            // Each reference to a group may expand to the whole value.
            self.spend_bytes(
                replacement.len() + replacement.matches('$').count().saturating_mul(value.len()),
            )?;
            if let Some(captures) = regex.captures(&value) {
                column.name.set(target, &expand(&captures, replacement));
            }
        }
        merge_same(columns)
    }

    fn label_join(&self, mut columns: Vec<Column>, texts: &[&str]) -> Result<Vec<Column>, QueryError> {
        let [target, separator, sources @ ..] = texts else {
            return unanswerable("label_join needs two texts");
        };
        if !is_label(target) {
            return unanswerable(format!("invalid destination label name in label_join(): {target}"));
        }
        if let Some(source) = sources.iter().find(|source| !is_label(source)) {
            return unanswerable(format!("invalid source label name in label_join(): {source}"));
        }
        for column in &mut columns {
            let values: Vec<&str> = sources.iter().map(|source| column.name.get(source)).collect();
            let bytes: usize = values.iter().map(|value| value.len() + separator.len()).sum();
            self.spend_bytes(bytes)?;
            let joined = values.join(separator);
            column.name.set(target, &joined);
        }
        merge_same(columns)
    }

    /// The labels that are known of what is absent: those that a selector wants to be equal to something.
    fn wanted_labels(matchers: &[Matcher]) -> SeriesName {
        let mut name = SeriesName::default();
        let mut seen: Vec<&str> = Vec::new();
        for matcher in matchers.iter().filter(|matcher| matcher.label != METRIC) {
            match &matcher.condition {
                Condition::Equal(value) if !seen.contains(&matcher.label.as_str()) => {
                    name.set(&matcher.label, value)
                }
                _ => name.set(&matcher.label, ""),
            }
            seen.push(&matcher.label);
        }
        name
    }

    /// At which steps any series has a sample in a range.
    fn is_present(&self, range: &Range, steps: Steps) -> Result<Vec<bool>, QueryError> {
        let mut is_present = vec![false; steps.count];
        let mut runs = Vec::new();
        for series in self.range(range, steps, None)? {
            self.spend(0)?;
            for (place, is_present) in
                is_present.iter_mut().enumerate().filter(|(_, is_present)| !**is_present)
            {
                let to_ms = self.instant(range.shift, steps.at(place));
                series.samples.runs(to_ms.saturating_sub(range.length_ms), to_ms, &mut runs);
                *is_present = !runs.is_empty();
            }
        }
        Ok(is_present)
    }
}

fn range(expression: &Expression) -> Result<&Range, QueryError> {
    match expression {
        Expression::Range(range) => Ok(range),
        _ => unanswerable("expected a range"),
    }
}

fn texts(arguments: &[Expression]) -> Result<Vec<&str>, QueryError> {
    let text = |argument: &'_ Expression| match argument {
        Expression::Text(_) => Ok(()),
        _ => unanswerable("expected a text"),
    };
    arguments.iter().try_for_each(text)?;
    Ok(arguments
        .iter()
        .map(|argument| match argument {
            Expression::Text(text) => text.as_str(),
            _ => "",
        })
        .collect())
}

/// The value of the only series at each step; NaN if there are none or several.
fn only_value(columns: &[Column], steps: Steps) -> Vec<f64> {
    let at_step = |step: usize| {
        let mut present = columns.iter().filter_map(|column| column.values[step]);
        match (present.next(), present.next()) {
            (Some(value), None) => value,
            _ => f64::NAN,
        }
    };
    (0..steps.count).map(at_step).collect()
}

/// In the order of the values at the only step; of several steps there is no order.
fn sort(mut columns: Vec<Column>, is_descending: bool) -> Vec<Column> {
    let value = |column: &Column| match column.values[..] {
        [Some(value)] => value,
        _ => f64::NAN,
    };
    columns.sort_by(|one, other| rank(value(one), value(other), is_descending));
    columns
}
