//! How busy machines were in the last hour, for a small plot beside each.

use std::collections::BTreeMap;

use query::Answer;
use serde::Serialize;

use remote_store::Asked;

use crate::{Fleet, INSTANCE};

/// The percent of all its CPUs that each machine used. `$match` stands for more matchers.
const BUSY_PERCENT: &str = "100 * sum by (instance) (rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$match}[5m])) \
                            / count by (instance) (node_cpu_seconds_total{mode=\"idle\",$match})";
const SPAN_MS: i64 = 3_600_000;
/// Each step is a pixel or two wide.
const STEP_MS: i64 = 120_000;

/// How busy the CPUs of machines were at each step of a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FleetPast {
    /// The first instant, in milliseconds since 1970.
    pub from_ms: i64,
    /// Between two instants, in milliseconds.
    pub step_ms: i64,
    /// The percent of its CPUs that a machine used at each instant, by its name; `None`: there is no sample.
    pub busy_percent: BTreeMap<String, Vec<Option<u8>>>,
}

impl Fleet {
    /// Asks how busy all machines were in the hour before an instant in milliseconds since 1970: one question. The instants are multiples of
    /// their distance, so that a later answer has the same.
    ///
    /// # Errors
    /// If the store does not answer.
    pub fn past(&self, at_ms: i64) -> Result<FleetPast, String> {
        let to_ms = at_ms - at_ms.rem_euclid(STEP_MS);
        let from_ms = to_ms - SPAN_MS;
        let expression = BUSY_PERCENT.replace("$match", &self.matchers);
        let answer = self.store.ask(&expression, Asked::Between { from_ms, to_ms, step_ms: STEP_MS })?;
        let mut past = FleetPast { from_ms, step_ms: STEP_MS, busy_percent: BTreeMap::new() };
        if let Answer::Matrix(series) = answer {
            for (name, points) in series {
                let mut percents = vec![None; (SPAN_MS / STEP_MS) as usize + 1];
                for point in points {
                    // A store may say any time.
                    let step = point.at_ms.checked_sub(from_ms).map(|after_ms| after_ms.div_euclid(STEP_MS));
                    let place = step.and_then(|step| usize::try_from(step).ok());
                    if let Some(percent) = place.and_then(|place| percents.get_mut(place)) {
                        // A number that is none has no percent.
                        *percent =
                            point.value.is_finite().then(|| point.value.round().clamp(0.0, 100.0) as u8);
                    }
                }
                past.busy_percent.insert(name.get(INSTANCE).to_owned(), percents);
            }
        }
        Ok(past)
    }
}
