//! When a rule would have fired, by what is recorded.

use std::collections::BTreeMap;

use formats::series_name::SeriesName;
use query::{Answer, Limits, Query, QueryError};

use super::active::{Active, Alerts};
use super::rule::AlertRule;
use history::past::Past;

/// An alert that would have fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired {
    /// As it was when it began to.
    pub alert: Active,
    /// When it was over, in milliseconds since 1970; `None`: at the end it still fired.
    pub until_ms: Option<i64>,
}

/// Evaluates a rule from one time to another, in milliseconds since 1970, in the steps in which the agent does.
///
/// # Errors
/// If the expression cannot be evaluated, or two series would be one alert.
pub fn try_rule(
    past: &Past,
    rule: &AlertRule,
    [from_ms, to_ms]: [i64; 2],
    step_ms: i64,
) -> Result<Vec<Fired>, String> {
    let text = |error: QueryError| error.to_string();
    let query = Query::parse(&rule.expression).map_err(text)?;
    let answer = query.between(past, [from_ms, to_ms], step_ms, &Limits::default()).map_err(text)?;
    let Answer::Matrix(series) = answer else {
        return Err("its answer is no series with a value each".to_owned());
    };
    let mut steps: BTreeMap<i64, Vec<(SeriesName, f64)>> = BTreeMap::new();
    for (name, points) in &series {
        for point in points {
            steps.entry(point.at_ms).or_default().push((name.clone(), point.value));
        }
    }
    let mut alerts = Alerts::default();
    let mut fired: Vec<Fired> = Vec::new();
    let mut at_ms = from_ms;
    while at_ms <= to_ms {
        let found = steps.remove(&at_ms).unwrap_or_default();
        for notice in alerts.advance(rule, at_ms, &found, |_| false)? {
            let known = fired.iter_mut().rfind(|one| one.alert.labels == notice.alert.labels);
            match (notice.is_end, known) {
                (true, Some(known)) => known.until_ms = Some(at_ms),
                (true, None) => {}
                (false, _) => fired.push(Fired { alert: notice.alert, until_ms: None }),
            }
        }
        at_ms += step_ms.max(1);
    }
    Ok(fired)
}
