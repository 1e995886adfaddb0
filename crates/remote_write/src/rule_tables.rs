//! Recording rules as TOML.

use std::time::Duration;

use configuration::{Fault, Options, parse};
use facts::catalog::{METRICS, agent_metric};
use formats::series_name::{is_label, is_metric};
use query::Query;

use crate::recording_rule::RecordingRule;

/// The rules that are there unless they are switched off or replaced.
const STARTER: &str = include_str!("starter.toml");
/// A whole minute of tasks is a sum that is there already.
const USUAL_INTERVAL: Duration = Duration::from_secs(60);
const USUAL_MOST_SERIES: usize = 1000;
const MAX_MOST_SERIES: usize = 100_000;

/// Reads `[recording]` and `[[record]]`.
///
/// # Errors
/// The first fault.
pub(crate) fn read_rules(root: &Options<'_, '_>) -> Result<Vec<RecordingRule>, Fault> {
    let mut rules = starter();
    if let Some(value) = root.get("recording") {
        let table = Options::of(value)?;
        table.refuse_unknown(["starter"].into_iter(), "[recording]")?;
        if !table.flag_or("starter", true)? {
            rules.clear();
        }
    }
    let own = of_tables(root)?;
    // A configured rule replaces the usual one of its name.
    rules.retain(|rule| own.iter().all(|own| own.name != rule.name));
    rules.extend(own);
    Ok(rules)
}

fn starter() -> Vec<RecordingRule> {
    let read = || of_tables(&Options::new(parse(STARTER)?.get_ref(), 0..0));
    // A test reads them.
    read().unwrap_or_default()
}

fn of_tables(root: &Options<'_, '_>) -> Result<Vec<RecordingRule>, Fault> {
    let mut rules: Vec<RecordingRule> = Vec::new();
    for table in root.tables("record")? {
        let rule = rule(&table)?;
        if rules.iter().any(|other| other.name == rule.name) {
            return Err(table.fault_of("name", format!("there is a rule \"{}\" already", rule.name)));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn rule(table: &Options<'_, '_>) -> Result<RecordingRule, Fault> {
    const KNOWN: [&str; 5] = ["name", "expression", "interval", "labels", "limit"];
    table.refuse_unknown(KNOWN.into_iter(), "[[record]]")?;
    let name = table.required_text("name", "\"unit:whit_task_on_cpu_seconds:rate1m\"")?;
    if !is_metric(name) {
        return Err(table.fault_of("name", "expected letters, digits, \"_\" and \":\", no digit first"));
    }
    if METRICS.iter().any(|metric| metric.name == name)
        || agent_metric(name).is_some()
        || name.starts_with("whit_")
    {
        let message = "this name is that of a recorded metric, or could be: one with \":\" never is";
        return Err(table.fault_of("name", message));
    }
    let expression = table.required_text("expression", "\"sum(rate(node_cpu_seconds_total[1m]))\"")?;
    let fault = |message: String| table.fault_of("expression", message);
    let query = Query::parse(expression).map_err(|error| fault(error.to_string()))?;
    if !query.has_steps() {
        return Err(fault("expected an expression whose answer is series or a number".to_owned()));
    }
    let least = Duration::from_secs(1);
    let interval = table.duration_within("interval", least..=Duration::from_secs(3600), "1s to 1h")?;
    let most_series = match table.whole_number("limit")?.map(usize::try_from) {
        None => USUAL_MOST_SERIES,
        Some(Ok(limit)) if (1..=MAX_MOST_SERIES).contains(&limit) => limit,
        Some(_) => return Err(table.fault_of("limit", format!("expected 1 to {MAX_MOST_SERIES}"))),
    };
    let is_own_label = |name: &str| is_label(name) && !name.starts_with("__");
    Ok(RecordingRule {
        name: name.to_owned(),
        expression: expression.to_owned(),
        interval: interval.unwrap_or(USUAL_INTERVAL),
        labels: table.pairs("labels", "{ team = \"web\" }", is_own_label)?,
        most_series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Result<Vec<RecordingRule>, Fault> {
        read_rules(&Options::new(parse(text)?.get_ref(), 0..0))
    }

    #[test]
    fn the_starter_rules_are_good_and_can_be_replaced() {
        let starter = of_tables(&Options::new(parse(STARTER).unwrap().get_ref(), 0..0)).unwrap();
        assert!(starter.len() >= 10);
        assert_eq!(rules("").unwrap(), starter);
        assert_eq!(rules("[recording]\nstarter = false").unwrap(), []);
        let own = format!(
            "[[record]]\nname = \"{}\"\nexpression = \"up\"\nlimit = 3\nlabels = {{ a = \"b\" }}",
            starter[0].name
        );
        let replaced = rules(&own).unwrap();
        assert_eq!((replaced.len(), replaced.last().unwrap().most_series), (starter.len(), 3));
        assert_eq!(replaced.last().unwrap().labels, [("a".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn faults_have_words() {
        let rule = "[[record]]\nname = \"a:b\"\nexpression = \"up\"\n";
        for (text, message) in [
            ("[[record]]\nname = \"a:b\"".to_owned(), "this needs expression"),
            ("[[record]]\nname = \"a b\"\nexpression = \"up\"".to_owned(), "expected letters"),
            ("[[record]]\nname = \"node_load1\"\nexpression = \"up\"".to_owned(), "this name is that of"),
            ("[[record]]\nname = \"ALERTS\"\nexpression = \"up\"".to_owned(), "this name is that of"),
            ("[[record]]\nname = \"a:b\"\nexpression = \"up[5m]\"".to_owned(), "expected an expression"),
            ("[[record]]\nname = \"a:b\"\nexpression = \"sum(\"".to_owned(), ""),
            (format!("{rule}{rule}"), "there is a rule \"a:b\" already"),
            (format!("{rule}limit = 0"), "expected 1 to"),
            (format!("{rule}interval = \"2h\""), "expected 1s to 1h"),
            (format!("{rule}labels = {{ __name__ = \"b\" }}"), "\"__name__\" cannot stand in labels"),
            ("[recording]\nstart = false".to_owned(), "[recording] has no option \"start\""),
        ] {
            let fault = rules(&text).unwrap_err();
            assert!(fault.message.starts_with(message), "{text}: {}", fault.message);
        }
    }
}
