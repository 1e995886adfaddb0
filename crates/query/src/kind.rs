//! Types of values.

/// What type of value an expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Scalar,
    Text,
    Vector,
    Range,
}
