//! Syntax errors.

use std::fmt;

/// A syntax error in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The description of the error.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for SyntaxError {}
