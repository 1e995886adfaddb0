//! Silences: for a while, no notifications of certain alerts are sent.

use formats::series_name::SeriesName;
use query::{Matcher, QueryError, parse_selector};
use serde::{Deserialize, Serialize};

use super::active::NAME;

/// A time for which no notifications of alerts with these labels are sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// The name of a rule, or a selector: `{mountpoint="/srv"}`.
    pub selector: String,
    /// In milliseconds since 1970.
    pub since_ms: i64,
    /// In milliseconds since 1970.
    pub until_ms: i64,
    /// Why.
    pub comment: String,
}

impl Silence {
    /// Returns the conditions of its selector.
    ///
    /// # Errors
    /// What is wrong with the selector.
    pub fn matchers(&self) -> Result<Vec<Matcher>, QueryError> {
        match self.selector.starts_with('{') {
            true => parse_selector(&self.selector),
            // Names of alerts are any text.
            false => Ok(vec![Matcher::equal(NAME, &self.selector)]),
        }
    }

    /// Returns whether no notification of an alert with these labels is to be sent now.
    pub fn covers(&self, labels: &SeriesName, now_ms: i64) -> bool {
        let is_now = (self.since_ms..self.until_ms).contains(&now_ms);
        is_now
            && self
                .matchers()
                .is_ok_and(|matchers| matchers.iter().all(|one| one.accepts(labels.get(&one.label))))
    }
}
