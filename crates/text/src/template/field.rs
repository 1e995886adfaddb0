//! Fields, and errors in their use.

/// A value that format strings and conditions can name.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// As format strings and conditions name it.
    pub name: &'static str,
    /// Its meaning and unit.
    pub help: &'static str,
}

/// A syntax error in a format string or condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its place, in bytes from the start of the text.
    pub offset: usize,
    /// The error, and what would be right.
    pub message: String,
}
