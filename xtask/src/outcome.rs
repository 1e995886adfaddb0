//! The result of a task.

/// An error is a sentence for people.
pub(crate) type Outcome = Result<(), String>;
