//! Functions of one value.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::function::{Date, Elementwise};

/// Applies a function to a value and its scalars; `None` leaves the value out.
pub(crate) fn apply(function: Elementwise, value: f64, [first, second]: [f64; 2]) -> Option<f64> {
    Some(match function {
        Elementwise::Absolute => value.abs(),
        Elementwise::Ceiling => value.ceil(),
        Elementwise::Clamp if second < first => return None,
        Elementwise::Clamp => greater(first, lesser(second, value)),
        Elementwise::ClampMaximum => lesser(first, value),
        Elementwise::ClampMinimum => greater(first, value),
        Elementwise::Exponential => value.exp(),
        Elementwise::Floor => value.floor(),
        Elementwise::Logarithm => value.ln(),
        Elementwise::Logarithm10 => value.log10(),
        Elementwise::Logarithm2 => value.log2(),
        Elementwise::Round => {
            // By the inverse, so that 0.1 is exact.
            let inverse = 1.0 / first;
            (value * inverse + 0.5).floor() / inverse
        }
        Elementwise::Sign if value < 0.0 => -1.0,
        Elementwise::Sign if value > 0.0 => 1.0,
        Elementwise::Sign => value,
        Elementwise::SquareRoot => value.sqrt(),
    })
}

/// The scalars that a function has if they are not given.
pub(crate) fn usual_scalar(function: Elementwise) -> f64 {
    if function == Elementwise::Round { 1.0 } else { f64::NAN }
}

/// NaN if either is.
fn greater(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() { f64::NAN } else { one.max(other) }
}

fn lesser(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() { f64::NAN } else { one.min(other) }
}

/// A part of the date that is so many seconds after 1970 began, in UTC; NaN if there is no such date.
pub(crate) fn date(part: Date, seconds: f64) -> f64 {
    // Fractions are left out, towards 0.
    let Ok(timestamp) = Timestamp::from_second(seconds as i64) else { return f64::NAN };
    if seconds.is_nan() {
        return f64::NAN;
    }
    let at = timestamp.to_zoned(TimeZone::UTC).datetime();
    match part {
        Date::DayOfMonth => f64::from(at.day()),
        Date::DayOfWeek => f64::from(at.weekday().to_sunday_zero_offset()),
        Date::DayOfYear => f64::from(at.day_of_year()),
        Date::DaysInMonth => f64::from(at.date().days_in_month()),
        Date::Hour => f64::from(at.hour()),
        Date::Minute => f64::from(at.minute()),
        Date::Month => f64::from(at.month()),
        Date::Year => f64::from(at.year()),
    }
}
