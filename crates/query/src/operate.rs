//! Arithmetic and comparisons of two numbers.

use crate::expression::{Arithmetic, Comparison};

pub(crate) fn arithmetic(operator: Arithmetic, left: f64, right: f64) -> f64 {
    match operator {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder => left % right,
        Arithmetic::Power => left.powf(right),
    }
}

pub(crate) fn holds(operator: Comparison, left: f64, right: f64) -> bool {
    match operator {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

/// 1 or 0.
pub(crate) fn as_number(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
