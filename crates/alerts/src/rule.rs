//! Rules of alerts, and their receivers.

use std::ffi::OsString;
use std::time::Duration;

use history::past::is_for_everyone;
use query::Query;

use super::message::Message;
use notify::Receiver;

pub use history::metrics::ALERTS as SERIES;

/// All rules, and all receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertOptions {
    /// Between two evaluations of a rule.
    pub interval: Duration,
    /// The rules, each with its expression.
    pub rules: Vec<AlertRule>,
    /// The receivers. If there are none, alerts are in the log, in the history and in answers.
    pub receivers: Vec<Receiver>,
    /// The command that runs [`notify::job::run`]; the path of a job is its last word.
    pub job_program: Vec<OsString>,
}

impl AlertOptions {
    /// Returns the same without rules.
    pub fn without_rules(&self) -> Self {
        Self { rules: Vec::new(), ..self.clone() }
    }
}

/// An expression whose answer is an alert for each of its series.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertRule {
    /// Its name, the label `alertname`.
    pub name: String,
    /// An expression of PromQL; docs/QUERY.md lists what is supported.
    pub expression: String,
    /// An alert fires after the expression has had its series for so long.
    pub hold: Duration,
    /// Added to the labels of the series.
    pub labels: Vec<(String, String)>,
    /// The message that says what is the matter.
    pub message: Message,
    /// The names of the receivers that are notified; none: all.
    pub receivers: Vec<String>,
}

impl AlertRule {
    /// Returns whether not everyone may see its series: unless each of its selectors names a metric that everyone sees.
    pub fn is_restricted(&self) -> bool {
        let metrics = Query::parse(&self.expression).ok().and_then(|query| query.metrics());
        metrics
            .is_none_or(|metrics| !metrics.iter().all(|metric| metric != SERIES && is_for_everyone(metric)))
    }
}
