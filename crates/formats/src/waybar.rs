//! The output of a custom module of waybar, an object a line: waybar-custom(5).

use serde::Serialize;

/// One line.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Line<'a> {
    /// The text that is shown: Pango's markup.
    pub text: &'a str,
    /// The text that is shown where the pointer rests.
    pub tooltip: &'a str,
    /// The names by which its style is found.
    pub class: &'a str,
    /// The text that `format-alt` and icons by name go by.
    pub alt: &'a str,
    /// The number that icons by level go by, 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentage: Option<u32>,
}
