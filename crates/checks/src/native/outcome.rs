//! The outcome of a check.

use crate::state::State;

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) state: State,
    pub(super) text: String,
    pub(super) figures: String,
}

impl Outcome {
    pub(super) fn new(state: State, text: impl Into<String>) -> Self {
        Self { state, text: text.into(), figures: String::new() }
    }

    pub(super) fn with(self, figures: String) -> Self {
        Self { figures, ..self }
    }
}
