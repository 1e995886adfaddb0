//! When a rule would have fired, by what is recorded.

use std::collections::BTreeMap;

use formats::series_name::SeriesName;
use query::{Answer, Limits, Query};

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

/// The steps that are evaluated at once. A query has a limit of them, and a week has more.
const STEPS_AT_A_TIME: i64 = 1_000;

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
    let step_ms = step_ms.max(1);
    let query = Query::parse(&rule.expression).map_err(|error| error.to_string())?;
    let mut alerts = Alerts::default();
    let mut fired: Vec<Fired> = Vec::new();
    let mut part_ms = from_ms;
    while part_ms <= to_ms {
        let next_ms = part_ms.saturating_add(step_ms.saturating_mul(STEPS_AT_A_TIME));
        let last_ms = to_ms.min(next_ms - 1);
        let mut steps = evaluate(past, &query, [part_ms, last_ms], step_ms)?;
        let mut at_ms = part_ms;
        while at_ms <= last_ms {
            let found = steps.remove(&at_ms).unwrap_or_default();
            for notice in alerts.advance(rule, at_ms, &found, |_| false)? {
                let known = fired.iter_mut().rfind(|one| one.alert.labels == notice.alert.labels);
                match (notice.is_end, known) {
                    (true, Some(known)) => known.until_ms = Some(at_ms),
                    (true, None) => {}
                    (false, _) => fired.push(Fired { alert: notice.alert, until_ms: None }),
                }
            }
            at_ms += step_ms;
        }
        part_ms = next_ms;
    }
    Ok(fired)
}

/// The values of an expression at each step that has any.
type Steps = BTreeMap<i64, Vec<(SeriesName, f64)>>;

fn evaluate(past: &Past, query: &Query, times_ms: [i64; 2], step_ms: i64) -> Result<Steps, String> {
    let answer = query.between(past, times_ms, step_ms, &Limits::default());
    let Answer::Matrix(series) = answer.map_err(|error| error.to_string())? else {
        return Err("its answer is no series with a value each".to_owned());
    };
    let mut steps = Steps::new();
    for (name, points) in &series {
        for point in points {
            steps.entry(point.at_ms).or_default().push((name.clone(), point.value));
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use facts::sample::Clock;
    use facts::unit::Nanos;
    use store::{Retention, SeriesKind, Store, Tick};

    use super::*;
    use crate::message::Message;

    /// Nine days in steps of a minute are more than one query may have.
    #[test]
    fn days_are_evaluated_in_parts() {
        const FIRST_MS: i64 = 1_700_000_000_000;
        const MINUTE_MS: i64 = 60_000;
        let path = std::env::temp_dir().join(format!("whit-alert-days-{}.sqlite", std::process::id()));
        let mut store = Store::open(&path, Retention::default()).unwrap();
        let series = store.series("load", SeriesKind::Gauge);
        let minutes = 9 * 24 * 60;
        // It is high over the end of a part, and at the end.
        let is_high = |minute| (992..1012).contains(&minute) || minute >= minutes - 8;
        for minute in (0..minutes).step_by(4) {
            let at_ns = ((FIRST_MS + minute * MINUTE_MS) * 1_000_000).unsigned_abs();
            let clock = Clock { realtime: Nanos(at_ns), monotonic: Nanos(at_ns), boottime: Nanos(at_ns) };
            let value = if is_high(minute) { 9.0 } else { 1.0 };
            store.append(&Tick { clock, boot_id: "boot", values: &[(series, value)], tasks: None }).unwrap();
        }
        store.close().unwrap();
        let rule = AlertRule {
            name: "high".to_owned(),
            expression: "load > 5".to_owned(),
            hold: Duration::from_secs(120),
            labels: Vec::new(),
            message: Message::parse("{value}").unwrap(),
            receivers: Vec::new(),
        };
        let past = Past::open(&path).unwrap();
        let at_ms = |minute: i64| FIRST_MS + minute * MINUTE_MS;
        let fired = try_rule(&past, &rule, [at_ms(0), at_ms(minutes - 1)], MINUTE_MS).unwrap();
        let times: Vec<_> = fired.iter().map(|one| (one.alert.firing_since_ms, one.until_ms)).collect();
        let _ = std::fs::remove_file(&path);
        assert_eq!(times, [(Some(at_ms(994)), Some(at_ms(1012))), (Some(at_ms(minutes - 6)), None)]);
    }
}
