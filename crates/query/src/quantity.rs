//! The unit of an expression's values, as the metrics from which they have it.

use crate::expression::{
    Aggregation, Arithmetic, Expression, Matcher, Operator, RangeOf, SetOperator, metric_of,
};
use crate::function::{Elementwise, Function, OverTime};

/// A metric whose unit the values of an expression have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Its name.
    pub metric: String,
    /// The values are so much of it a second.
    pub is_per_second: bool,
}

/// Those of an expression; none for a constant. `None`: the values have no unit, or no metric has it.
pub(crate) fn of(expression: &Expression) -> Option<Vec<Quantity>> {
    match expression {
        Expression::Number(_) => Some(Vec::new()),
        Expression::Text(_) => None,
        Expression::Select(selector) => of_series(&selector.matchers),
        Expression::Range(range) => match &range.of {
            RangeOf::Series(matchers) => of_series(matchers),
            RangeOf::Expression { inner, .. } => of(inner),
        },
        Expression::Negate(inner) => of(inner),
        Expression::Binary(binary) => {
            let [left, right] = [&binary.left, &binary.right].map(of);
            match binary.operator {
                Operator::Comparison(_) if binary.is_bool => None,
                Operator::Comparison(_)
                | Operator::Set(SetOperator::And | SetOperator::Unless)
                | Operator::Arithmetic(Arithmetic::Remainder) => left,
                Operator::Set(SetOperator::Or)
                | Operator::Arithmetic(Arithmetic::Add | Arithmetic::Subtract) => {
                    let mut both = left?;
                    both.extend(right?);
                    Some(both)
                }
                // An expression that multiplies by 100 or divides by 1024 has a unit of its own.
                Operator::Arithmetic(Arithmetic::Multiply | Arithmetic::Divide | Arithmetic::Power) => None,
            }
        }
        Expression::Aggregate(aggregate) => match aggregate.operation {
            Aggregation::Count | Aggregation::Group | Aggregation::Variance | Aggregation::CountValues(_) => {
                None
            }
            _ => of(&aggregate.of),
        },
        Expression::Call(function, arguments) => of_call(*function, arguments),
    }
}

fn of_series(matchers: &[Matcher]) -> Option<Vec<Quantity>> {
    let metric = metric_of(matchers)?.to_owned();
    Some(vec![Quantity { metric, is_per_second: false }])
}

fn of_call(function: Function, arguments: &[Expression]) -> Option<Vec<Quantity>> {
    // The other arguments of functions are numbers and texts.
    let values =
        arguments.iter().find(|argument| !matches!(argument, Expression::Number(_) | Expression::Text(_)));
    let inner = || of(values?);
    match function {
        Function::OverTime(over_time) => match over_time {
            OverTime::Rate | OverTime::InstantRate | OverTime::Derivative => {
                let per_second = |quantity: Quantity| Quantity { is_per_second: true, ..quantity };
                Some(inner()?.into_iter().map(per_second).collect())
            }
            OverTime::Changes
            | OverTime::Count
            | OverTime::Present
            | OverTime::Resets
            | OverTime::Variance => None,
            _ => inner(),
        },
        Function::Elementwise(elementwise) => match elementwise {
            Elementwise::Exponential
            | Elementwise::Logarithm
            | Elementwise::Logarithm10
            | Elementwise::Logarithm2
            | Elementwise::Sign
            | Elementwise::SquareRoot => None,
            _ => inner(),
        },
        // The bounds of buckets have the unit that their metric is named by.
        Function::HistogramQuantile => {
            let of_bounds = |quantity: Quantity| {
                let metric = quantity.metric.strip_suffix("_bucket").unwrap_or(&quantity.metric).to_owned();
                Quantity { metric, is_per_second: false }
            };
            Some(inner()?.into_iter().map(of_bounds).collect())
        }
        Function::LabelJoin
        | Function::LabelReplace
        | Function::Scalar
        | Function::Sort
        | Function::SortDescending
        | Function::Vector => inner(),
        Function::Date(_)
        | Function::Absent
        | Function::AbsentOverTime
        | Function::Time
        | Function::Timestamp => None,
    }
}
