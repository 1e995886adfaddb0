//! The active alerts, and the notifications of them. Pure: the time and the answers are given.

use std::collections::BTreeMap;

use formats::series_name::{METRIC, SeriesName};
use query::number::write_in_full;
use serde::{Deserialize, Serialize};

use super::rule::AlertRule;

/// Alerts of one rule; more are a mistake of the rule.
const MAX_OF_A_RULE: usize = 1000;
/// The label with the rule's name.
pub(crate) const NAME: &str = "alertname";

/// An alert: a series that a rule's expression has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Active {
    /// The labels of the series and of the rule, and its name.
    pub labels: BTreeMap<String, String>,
    /// Since when the series is there, in milliseconds since 1970.
    pub since_ms: i64,
    /// Since when the alert fires; `None`: it is not there for long enough.
    pub firing_since_ms: Option<i64>,
    /// Its receivers were notified that it fires.
    pub is_told: bool,
    /// The last value, as Prometheus writes it.
    pub value: String,
    /// The text that says what is the matter.
    pub text: String,
}

impl Active {
    /// The name of its rule.
    pub fn rule(&self) -> &str {
        self.labels.get(NAME).map_or("", String::as_str)
    }

    /// `pending` or `firing`.
    pub fn state(&self) -> &'static str {
        if self.firing_since_ms.is_some() { "firing" } else { "pending" }
    }

    /// The labels as those of a series.
    pub fn name(&self) -> SeriesName {
        let mut name = SeriesName::default();
        self.labels.iter().for_each(|(label, value)| name.set(label, value));
        name
    }
}

/// Something to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) alert: Active,
    /// It is over.
    pub(crate) is_end: bool,
}

/// All alerts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alerts {
    active: Vec<Active>,
}

impl Alerts {
    pub(crate) fn new(active: Vec<Active>) -> Self {
        Self { active }
    }

    pub(crate) fn all(&self) -> &[Active] {
        &self.active
    }

    /// Takes the series that a rule's expression has now. Returns the notices to be sent.
    ///
    /// # Errors
    /// If two series become one alert, or there are too many. Nothing changes then.
    pub(crate) fn advance(
        &mut self,
        rule: &AlertRule,
        now_ms: i64,
        found: &[(SeriesName, f64)],
        is_silenced: impl Fn(&SeriesName) -> bool,
    ) -> Result<Vec<Notice>, String> {
        if found.len() > MAX_OF_A_RULE {
            return Err(format!("{} series are more than {MAX_OF_A_RULE}", found.len()));
        }
        let mut now: BTreeMap<BTreeMap<String, String>, (f64, String)> = BTreeMap::new();
        for (series, value) in found {
            let text = rule.message.write(series, *value);
            if now.insert(labels(rule, series), (*value, text)).is_some() {
                return Err("two series have the same labels once those of the rule are added".to_owned());
            }
        }
        let mut notices = Vec::new();
        self.active.retain_mut(|alert| {
            if alert.rule() != rule.name || now.contains_key(&alert.labels) {
                return true;
            }
            if alert.is_told && !is_silenced(&alert.name()) {
                notices.push(Notice { alert: alert.clone(), is_end: true });
            }
            false
        });
        for (labels, (value, text)) in now {
            let known = self.active.iter().position(|alert| alert.labels == labels);
            let place = known.unwrap_or_else(|| {
                self.active.push(Active {
                    labels,
                    since_ms: now_ms,
                    firing_since_ms: None,
                    is_told: false,
                    value: String::new(),
                    text: String::new(),
                });
                self.active.len() - 1
            });
            let alert = &mut self.active[place];
            (alert.value, alert.text) = (write_in_full(value), text);
            let hold_ms = i64::try_from(rule.hold.as_millis()).unwrap_or(i64::MAX);
            if alert.firing_since_ms.is_none() && now_ms.saturating_sub(alert.since_ms) >= hold_ms {
                alert.firing_since_ms = Some(now_ms);
            }
            if alert.firing_since_ms.is_some() && !alert.is_told && !is_silenced(&alert.name()) {
                alert.is_told = true;
                notices.push(Notice { alert: alert.clone(), is_end: false });
            }
        }
        Ok(notices)
    }

    /// Ends the alerts that are of none of these rules. Returns the notices to be sent.
    pub(crate) fn keep_of(&mut self, rules: &[AlertRule]) -> Vec<Notice> {
        let mut notices = Vec::new();
        self.active.retain(|alert| {
            let is_kept = rules.iter().any(|rule| rule.name == alert.rule());
            if !is_kept && alert.is_told {
                notices.push(Notice { alert: alert.clone(), is_end: true });
            }
            is_kept
        });
        notices
    }
}

/// Returns the labels of an alert.
fn labels(rule: &AlertRule, series: &SeriesName) -> BTreeMap<String, String> {
    let own = series.labels().filter(|(label, _)| *label != METRIC);
    let mut labels: BTreeMap<String, String> =
        own.map(|(label, value)| (label.to_owned(), value.to_owned())).collect();
    labels.extend(rule.labels.iter().cloned());
    labels.insert(NAME.to_owned(), rule.name.clone());
    labels.retain(|_, value| !value.is_empty());
    labels
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::message::Message;
    use super::*;

    fn rule(hold_s: u64) -> AlertRule {
        AlertRule {
            name: "full".to_owned(),
            expression: String::new(),
            hold: Duration::from_secs(hold_s),
            labels: vec![("severity".to_owned(), "page".to_owned())],
            message: Message::parse("{disk} is at {value}").unwrap(),
            receivers: Vec::new(),
        }
    }

    fn series(disk: &str, value: f64) -> (SeriesName, f64) {
        let mut name = SeriesName::new("m");
        name.set("disk", disk);
        (name, value)
    }

    fn names(notices: &[Notice]) -> Vec<(&str, bool)> {
        notices.iter().map(|notice| (notice.alert.labels["disk"].as_str(), notice.is_end)).collect()
    }

    #[test]
    fn an_alert_fires_once_after_its_time_and_ends() {
        let (mut alerts, rule) = (Alerts::default(), rule(10));
        let mut at = |now_s: i64, found: &[(SeriesName, f64)]| {
            let notices = alerts.advance(&rule, now_s * 1000, found, |_| false).unwrap();
            (names(&notices).len(), alerts.all().iter().map(Active::state).collect::<Vec<_>>())
        };
        assert_eq!(at(0, &[series("a", 1.0)]), (0, vec!["pending"]));
        assert_eq!(at(5, &[series("a", 2.0), series("b", 1.0)]), (0, vec!["pending"; 2]));
        assert_eq!(at(10, &[series("a", 3.0)]), (1, vec!["firing"]));
        assert_eq!(at(20, &[series("a", 3.0)]), (0, vec!["firing"]));
        assert_eq!(at(30, &[]), (1, vec![]));
        // No notice is sent of an alert that was only pending.
        assert_eq!(at(40, &[series("a", 3.0)]), (0, vec!["pending"]));
        assert_eq!(at(41, &[]), (0, vec![]));
    }

    #[test]
    fn labels_and_text_are_those_of_series_and_rule() {
        let mut alerts = Alerts::default();
        let notices = alerts.advance(&rule(0), 7, &[series("a", 0.5)], |_| false).unwrap();
        let alert = &notices[0].alert;
        let labels: Vec<_> = alert.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
        assert_eq!(labels, ["alertname=full", "disk=a", "severity=page"]);
        assert_eq!((alert.text.as_str(), alert.value.as_str()), ("a is at 0.5", "0.5"));
        assert_eq!((alert.since_ms, alert.firing_since_ms), (7, Some(7)));
    }

    #[test]
    fn what_is_silenced_is_told_when_the_silence_ends() {
        let (mut alerts, rule) = (Alerts::default(), rule(0));
        let found = [series("a", 1.0)];
        assert_eq!(alerts.advance(&rule, 0, &found, |_| true).unwrap(), []);
        assert_eq!(alerts.all()[0].state(), "firing");
        let notices = alerts.advance(&rule, 1, &found, |_| false).unwrap();
        assert_eq!(names(&notices), [("a", false)]);
        // No notice is sent of an end whose beginning was not sent.
        alerts.advance(&rule, 2, &[series("b", 1.0)], |_| true).unwrap();
        assert_eq!(alerts.advance(&rule, 3, &[], |_| false).unwrap(), []);
    }

    #[test]
    fn series_that_become_one_are_refused_and_removed_rules_end() {
        let mut alerts = Alerts::default();
        let mut same = rule(0);
        alerts.advance(&same, 0, &[series("a", 1.0)], |_| false).unwrap();
        same.labels.push(("disk".to_owned(), "all".to_owned()));
        assert!(alerts.advance(&same, 0, &[series("a", 1.0), series("b", 1.0)], |_| false).is_err());
        assert_eq!(alerts.all().len(), 1);
        assert_eq!(names(&alerts.keep_of(&[])), [("a", true)]);
        assert!(alerts.all().is_empty());
    }
}
