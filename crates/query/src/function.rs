//! The functions of the language, by name.

use crate::kind::Kind;

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// A function of the samples in a range.
    OverTime(OverTime),
    /// A function of each value by itself.
    Elementwise(Elementwise),
    /// A part of the date that a value is in seconds since 1970; of the time itself if it has no argument.
    Date(Date),
    Absent,
    AbsentOverTime,
    HistogramQuantile,
    LabelJoin,
    LabelReplace,
    Scalar,
    Sort,
    SortDescending,
    Time,
    Timestamp,
    Vector,
}

/// A function of the samples in a range. Those with an argument have it first, as in `quantile_over_time(0.9, up[5m])`, but for
/// `predict_linear`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverTime {
    Average,
    Changes,
    Count,
    Delta,
    Derivative,
    Increase,
    InstantDelta,
    InstantRate,
    Last,
    Maximum,
    Minimum,
    PredictLinear,
    Present,
    Quantile,
    Rate,
    Resets,
    StandardDeviation,
    Sum,
    Variance,
}

/// A function of each value by itself, some with one or two scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elementwise {
    Absolute,
    Ceiling,
    Clamp,
    ClampMaximum,
    ClampMinimum,
    Exponential,
    Floor,
    Logarithm,
    Logarithm10,
    Logarithm2,
    Round,
    Sign,
    SquareRoot,
}

/// A part of a date, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Date {
    DayOfMonth,
    DayOfWeek,
    DayOfYear,
    DaysInMonth,
    Hour,
    Minute,
    Month,
    Year,
}

/// All of them, in the order of their names.
pub(crate) const FUNCTIONS: [(&str, Function); 51] = [
    ("abs", Function::Elementwise(Elementwise::Absolute)),
    ("absent", Function::Absent),
    ("absent_over_time", Function::AbsentOverTime),
    ("avg_over_time", Function::OverTime(OverTime::Average)),
    ("ceil", Function::Elementwise(Elementwise::Ceiling)),
    ("changes", Function::OverTime(OverTime::Changes)),
    ("clamp", Function::Elementwise(Elementwise::Clamp)),
    ("clamp_max", Function::Elementwise(Elementwise::ClampMaximum)),
    ("clamp_min", Function::Elementwise(Elementwise::ClampMinimum)),
    ("count_over_time", Function::OverTime(OverTime::Count)),
    ("day_of_month", Function::Date(Date::DayOfMonth)),
    ("day_of_week", Function::Date(Date::DayOfWeek)),
    ("day_of_year", Function::Date(Date::DayOfYear)),
    ("days_in_month", Function::Date(Date::DaysInMonth)),
    ("delta", Function::OverTime(OverTime::Delta)),
    ("deriv", Function::OverTime(OverTime::Derivative)),
    ("exp", Function::Elementwise(Elementwise::Exponential)),
    ("floor", Function::Elementwise(Elementwise::Floor)),
    ("histogram_quantile", Function::HistogramQuantile),
    ("hour", Function::Date(Date::Hour)),
    ("idelta", Function::OverTime(OverTime::InstantDelta)),
    ("increase", Function::OverTime(OverTime::Increase)),
    ("irate", Function::OverTime(OverTime::InstantRate)),
    ("label_join", Function::LabelJoin),
    ("label_replace", Function::LabelReplace),
    ("last_over_time", Function::OverTime(OverTime::Last)),
    ("ln", Function::Elementwise(Elementwise::Logarithm)),
    ("log10", Function::Elementwise(Elementwise::Logarithm10)),
    ("log2", Function::Elementwise(Elementwise::Logarithm2)),
    ("max_over_time", Function::OverTime(OverTime::Maximum)),
    ("min_over_time", Function::OverTime(OverTime::Minimum)),
    ("minute", Function::Date(Date::Minute)),
    ("month", Function::Date(Date::Month)),
    ("predict_linear", Function::OverTime(OverTime::PredictLinear)),
    ("present_over_time", Function::OverTime(OverTime::Present)),
    ("quantile_over_time", Function::OverTime(OverTime::Quantile)),
    ("rate", Function::OverTime(OverTime::Rate)),
    ("resets", Function::OverTime(OverTime::Resets)),
    ("round", Function::Elementwise(Elementwise::Round)),
    ("scalar", Function::Scalar),
    ("sgn", Function::Elementwise(Elementwise::Sign)),
    ("sort", Function::Sort),
    ("sort_desc", Function::SortDescending),
    ("sqrt", Function::Elementwise(Elementwise::SquareRoot)),
    ("stddev_over_time", Function::OverTime(OverTime::StandardDeviation)),
    ("stdvar_over_time", Function::OverTime(OverTime::Variance)),
    ("sum_over_time", Function::OverTime(OverTime::Sum)),
    ("time", Function::Time),
    ("timestamp", Function::Timestamp),
    ("vector", Function::Vector),
    ("year", Function::Date(Date::Year)),
];

impl Function {
    /// The function of a name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        FUNCTIONS.binary_search_by(|(known, _)| known.cmp(&name)).ok().map(|place| FUNCTIONS[place].1)
    }

    /// Returns the type of its result.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Scalar | Self::Time => Kind::Scalar,
            _ => Kind::Vector,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found() {
        for (name, function) in FUNCTIONS {
            assert_eq!(Function::find(name), Some(function));
        }
        assert_eq!(Function::find("sin"), None);
    }
}
