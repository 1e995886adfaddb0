//! An error in a text, and where it is.

use std::fmt;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedError {
    /// From 1.
    pub line: usize,
    /// In letters, from 1; 0: the line as a whole.
    pub column: usize,
    /// The description of the error.
    pub message: String,
}

impl fmt::Display for PlacedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}: {}", self.line, self.message),
            column => write!(f, "{}:{column}: {}", self.line, self.message),
        }
    }
}

impl std::error::Error for PlacedError {}
