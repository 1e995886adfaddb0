//! Expressions whose answers go out like recorded series.

use std::time::Duration;

/// An expression that is evaluated at each multiple of an interval, so that a bounded number of series goes out of what has no bound. Nothing
/// of it is stored here: the history has all that the expression reads.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingRule {
    /// The metric that its series get.
    pub name: String,
    /// An expression of PromQL; docs/QUERY.md lists what is supported.
    pub expression: String,
    /// Between two evaluations.
    pub interval: Duration,
    /// Replace labels of the series.
    pub labels: Vec<(String, String)>,
    /// With more series than this nothing of an evaluation goes out.
    pub most_series: usize,
}

impl RecordingRule {
    /// Returns how long it is from one evaluation to the next, in milliseconds.
    pub(crate) fn interval_ms(&self) -> i64 {
        i64::try_from(self.interval.as_millis()).unwrap_or(i64::MAX).max(1)
    }

    /// Returns the first and the last evaluation behind an instant and up to another, in milliseconds since 1970.
    pub(crate) fn steps_ms(&self, behind_ms: i64, to_ms: i64) -> Option<(i64, i64)> {
        let interval_ms = self.interval_ms();
        let first_ms = (behind_ms.div_euclid(interval_ms) + 1) * interval_ms;
        let last_ms = to_ms.div_euclid(interval_ms) * interval_ms;
        (first_ms <= last_ms).then_some((first_ms, last_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(interval_s: u64) -> RecordingRule {
        RecordingRule {
            name: "a".to_owned(),
            expression: "1".to_owned(),
            interval: Duration::from_secs(interval_s),
            labels: Vec::new(),
            most_series: 10,
        }
    }

    #[test]
    fn steps_are_multiples_of_the_interval() {
        let rule = rule(60);
        assert_eq!(rule.steps_ms(59_999, 60_000), Some((60_000, 60_000)));
        assert_eq!(rule.steps_ms(60_000, 119_999), None, "each step once");
        assert_eq!(rule.steps_ms(60_000, 240_500), Some((120_000, 240_000)));
        assert_eq!(rule.steps_ms(-1, 0), Some((0, 0)));
    }
}
