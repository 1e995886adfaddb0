//! The interface of a kind of check.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use http_client::KeptClients;

use super::outcome::Outcome;

/// A check of one kind.
pub(super) trait Probe: fmt::Debug + Send + Sync {
    /// Looks at a subject.
    fn run(&self, subject: &str, limits: &Limits<'_>) -> Outcome;

    /// Adds to the subject's words.
    fn condition(&self) -> String {
        String::new()
    }

    /// Returns whether the braces of a subject are variables. Those of an expression are its own.
    fn has_variables(&self) -> bool {
        true
    }
}

/// The limits of a run.
pub(super) struct Limits<'p> {
    pub(super) timeout: Duration,
    /// The agent's history.
    pub(super) history: &'p Path,
    /// They make requests.
    pub(super) clients: &'p KeptClients,
}
