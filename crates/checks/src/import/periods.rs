//! Nagios' time periods as whit's.

use std::collections::BTreeMap;

use crate::Period;
use formats::nagios::{NagiosObject, times_of};

use super::notes::Notes;

/// When something is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Always,
    Never,
    /// As whit writes them.
    In(String),
}

/// The time periods by their names.
#[derive(Debug, Default)]
pub(super) struct Periods<'f>(BTreeMap<&'f str, &'f NagiosObject>);

impl<'f> Periods<'f> {
    pub(super) fn of(objects: &'f [NagiosObject]) -> Self {
        let periods = objects.iter().filter(|object| object.kind == "timeperiod");
        Self(periods.filter_map(|period| Some((period.get("timeperiod_name")?, period))).collect())
    }

    /// Returns the times of a period. What cannot be carried over widens them.
    pub(super) fn times(&self, name: &str, user: &NagiosObject, notes: &mut Notes) -> Times {
        let Some(period) = self.0.get(name).copied() else {
            notes.leave_out(format!("the time period {name}, which does not exist: always"), user.place);
            return Times::Always;
        };
        let times = times_of(period);
        let mut parts = Vec::new();
        for rule in &times.rules {
            match read(rule) {
                Ok(rule) => parts.extend(rule),
                Err(()) => {
                    let what = format!("time period {name}: {rule}, it is always instead");
                    notes.leave_out(what, period.place);
                    return Times::Always;
                }
            }
        }
        if parts.is_empty() {
            return Times::Never;
        }
        let mut text = if times.is_always { "00:00-24:00".to_owned() } else { parts.join(", ") };
        for excluded in &times.excluded {
            match self.exclusion(excluded) {
                Some(Times::Always) => return Times::Never,
                Some(Times::In(times)) => text.push_str(&format!(" except {times}")),
                Some(Times::Never) => {}
                None => notes.leave_out(format!("time period {name}: exclude {excluded}"), period.place),
            }
        }
        if times.is_always && text == "00:00-24:00" { Times::Always } else { Times::In(text) }
    }

    /// The times that a period takes out of another; `None` if it takes out times itself, or cannot be read.
    fn exclusion(&self, name: &str) -> Option<Times> {
        let times = times_of(self.0.get(name)?);
        if !times.excluded.is_empty() {
            return None;
        }
        if times.is_always {
            return Some(Times::Always);
        }
        let rules: Result<Vec<Option<String>>, ()> = times.rules.iter().map(|rule| read(rule)).collect();
        let rules: Vec<String> = rules.ok()?.into_iter().flatten().collect();
        Some(if rules.is_empty() { Times::Never } else { Times::In(rules.join(", ")) })
    }
}

/// A rule as whit has it; `None` if it is no time.
fn read(rule: &str) -> Result<Option<String>, ()> {
    let (days, times) = rule.rsplit_once(' ').ok_or(())?;
    // A time that ends before it begins never comes in Nagios; in whit it would go over midnight. On a date it is a holiday.
    let none = format!("{days} 00:00-00:00");
    let is_date = none.parse::<Period>().map_err(drop)?.has_dates();
    match ends_before_it_begins(times) {
        true => Ok(is_date.then_some(none)),
        false => rule.parse::<Period>().map(|_| Some(rule.to_owned())).map_err(drop),
    }
}

fn ends_before_it_begins(times: &str) -> bool {
    let minutes = |text: &str| {
        let (hour, minute) = text.split_once(':')?;
        Some(hour.parse::<u32>().ok()? * 60 + minute.parse::<u32>().ok()?)
    };
    let ends = times.split_once('-').and_then(|(from, until)| Some((minutes(from)?, minutes(until)?)));
    ends.is_some_and(|(from, until)| until <= from)
}
