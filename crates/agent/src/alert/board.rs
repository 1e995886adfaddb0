//! The alerts as of now, for whoever asks: the recorder and HTTP.

use std::sync::{Arc, Mutex, PoisonError};

use super::active::Active;
use super::rule::AlertRule;

/// A rule and how its last evaluation went.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RuleState {
    pub(crate) rule: AlertRule,
    /// In milliseconds since 1970; `None`: not yet.
    pub(crate) evaluated_ms: Option<i64>,
    pub(crate) took_s: f64,
    pub(crate) error: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Standing {
    /// Between two evaluations.
    pub(crate) interval_s: f64,
    pub(crate) rules: Vec<RuleState>,
    pub(crate) active: Vec<Active>,
}

/// Where one thread writes and others read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board(Arc<Mutex<Arc<Standing>>>);

impl Board {
    pub(crate) fn write(&self, standing: Standing) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(standing);
    }

    pub(crate) fn read(&self) -> Arc<Standing> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
