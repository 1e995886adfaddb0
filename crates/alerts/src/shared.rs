//! The alerts as of now, shared with the recorder and HTTP.

use std::sync::{Arc, Mutex, PoisonError};

use formats::series_name::METRIC;

use super::active::Active;
use super::rule::{AlertRule, SERIES};

/// A rule and its last evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleState {
    /// The rule.
    pub rule: AlertRule,
    /// When it was evaluated, in milliseconds since 1970; `None`: not yet.
    pub evaluated_ms: Option<i64>,
    /// The time that took, in seconds.
    pub took_s: f64,
    /// Why it could not be evaluated.
    pub error: Option<String>,
}

/// All rules and alerts after an evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlertSnapshot {
    /// Between two evaluations, in seconds.
    pub interval_s: f64,
    /// In the order of the configuration.
    pub rules: Vec<RuleState>,
    /// Alerts that are pending or firing.
    pub active: Vec<Active>,
}

impl AlertSnapshot {
    /// Returns how many alerts fire.
    pub fn firing(&self) -> usize {
        self.active.iter().filter(|alert| alert.firing_since_ms.is_some()).count()
    }

    /// Returns the names of the series that say which alerts there are.
    pub fn series_names(&self) -> Vec<String> {
        let name = |alert: &Active| {
            let mut name = alert.name();
            name.set(METRIC, SERIES);
            name.set("alertstate", alert.state());
            name.to_string()
        };
        self.active.iter().map(name).collect()
    }
}

/// The last snapshot. One thread writes it, others read it.
#[derive(Clone, Debug, Default)]
pub struct SharedAlerts(Arc<Mutex<Arc<AlertSnapshot>>>);

impl SharedAlerts {
    /// Replaces the snapshot.
    pub fn write(&self, snapshot: AlertSnapshot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }

    /// Returns the last snapshot.
    pub fn read(&self) -> Arc<AlertSnapshot> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
