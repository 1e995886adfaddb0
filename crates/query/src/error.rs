//! Why an expression has no answer.

use std::fmt;

/// Why an expression has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// It is not an expression, or one that this version does not know.
    Malformed(Fault),
    /// Its values do not fit together.
    Unanswerable(String),
    /// It would need more than it may have.
    TooLarge(String),
    /// It was given up before it was answered.
    Interrupted,
    /// The samples that it asks for could not be read.
    Unreadable(String),
}

/// A fault in an expression, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Bytes before it, as far as that is known.
    pub place: Option<usize>,
    /// The message that says what is wrong.
    pub message: String,
}

impl Fault {
    /// Something of PromQL that whit does not have.
    pub(crate) fn not_in_subset(name: &str) -> Self {
        Self::new(format!("{name} is not in whit's subset of PromQL: whit-query(7) lists what is"))
    }

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into() }
    }

    pub(crate) fn at(place: usize, message: impl Into<String>) -> Self {
        Self { place: Some(place), message: message.into() }
    }

    /// The line and column of an expression in which it is, from 1.
    pub fn line_and_column(&self, expression: &str) -> Option<(usize, usize)> {
        let before = expression.get(..self.place?)?;
        let line = before.matches('\n').count() + 1;
        Some((line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1))
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(fault) => match fault.place {
                Some(place) => write!(f, "after {place} bytes: {}", fault.message),
                None => f.write_str(&fault.message),
            },
            Self::Unanswerable(message) | Self::TooLarge(message) | Self::Unreadable(message) => {
                f.write_str(message)
            }
            Self::Interrupted => f.write_str("it took longer than it may"),
        }
    }
}

impl std::error::Error for QueryError {}

pub(crate) fn unanswerable<T>(message: impl Into<String>) -> Result<T, QueryError> {
    Err(QueryError::Unanswerable(message.into()))
}
