//! Types of values.

/// The type of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Scalar,
    Text,
    Vector,
    Range,
}
