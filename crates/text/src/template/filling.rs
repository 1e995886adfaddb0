//! The values that a format string is filled with.

use super::value::Value;

/// The values for a format string.
pub struct Filling<'a> {
    /// One for each field, in their order.
    pub values: &'a [Value<'a>],
    /// For the option `icon`: from the lowest value to the highest.
    pub icons: &'a [String],
    /// The text is Pango markup, in which `&`, `<` and `>` must be escaped.
    pub is_markup: bool,
}
