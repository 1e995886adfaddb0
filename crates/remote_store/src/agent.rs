//! An agent elsewhere, or one whose history this user may not read: what it answers beside the queries of Prometheus.

use std::ops::RangeInclusive;

use history::why::{Findings, Target, Window};
use serde_json::Value;

use crate::RemoteStore;

/// The years 1970 to 9999, in milliseconds since 1970.
const TIMES_MS: RangeInclusive<i64> = 0..=253_402_300_799_999;

impl RemoteStore {
    /// Returns the first and the last tick that an agent has, in milliseconds since 1970; `None` if it has none.
    ///
    /// # Errors
    /// If there is no answer, or the server is not an agent of whit.
    pub fn extent_ms(&self) -> Result<Option<(i64, i64)>, String> {
        let status = self.get("status", Vec::new())?;
        // Others would be no times.
        let time = |name: &str| status[name].as_i64().filter(|time_ms| TIMES_MS.contains(time_ms));
        Ok(time("first_ms").zip(time("last_ms")))
    }

    /// Returns what an agent finds about a window, and about a target if one is named.
    ///
    /// # Errors
    /// As [`Self::extent_ms`], and if it refuses.
    pub fn why(&self, window: Window, target: Option<&Target>) -> Result<Findings, String> {
        let times = [("from_ms", window.from_ms), ("to_ms", window.to_ms)];
        let times = times.map(|(name, time_ms)| (name, time_ms.to_string()));
        let target = target.map(|target| ("target", target.to_string()));
        let found = self.get("why", times.into_iter().chain(target).collect())?;
        Findings::from_json(&found)
            .ok_or_else(|| format!("{}: findings of another version of whit", self.url))
    }

    fn get(&self, what: &str, parameters: Vec<(&str, String)>) -> Result<Value, String> {
        let url = format!("{}/api/page/{what}", self.url);
        let request = self.with_headers(self.client.get(&url).query_pairs(parameters));
        self.data_of(&url, request.call(), "an agent's")
    }
}
