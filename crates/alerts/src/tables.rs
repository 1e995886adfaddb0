//! Rules for alerts and their receivers as TOML.

use std::time::Duration;

use crate::{AlertOptions, AlertRule, Message};
use ::query::Query;
use formats::series_name::is_label;
use text::quantity;

use configuration::{Fault, Options, expected, parse, text};
use notify::tables as receivers;

/// The rules that are there unless they are switched off or replaced.
const STARTER: &str = include_str!("starter.toml");
const USUAL_INTERVAL: Duration = Duration::from_secs(15);
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Without a configuration.
pub fn usual() -> AlertOptions {
    AlertOptions {
        interval: USUAL_INTERVAL,
        rules: starter(),
        receivers: Vec::new(),
        job_program: receivers::job_program(),
    }
}

fn starter() -> Vec<AlertRule> {
    let read = || rules(&Options::new(parse(STARTER)?.get_ref(), 0..0));
    // A test reads them.
    read().unwrap_or_default()
}

/// Reads `[alerts]`, `[[alert]]` and `[[receiver]]`. `None`: nothing is watched for.
pub fn read(root: &Options<'_, '_>) -> Result<Option<AlertOptions>, Fault> {
    let mut options = usual();
    if let Some(value) = root.get("alerts") {
        let table = Options::of(value)?;
        table.refuse_unknown(["interval", "starter"].into_iter(), "[alerts]")?;
        if let Some(interval) = table.duration("interval")? {
            if interval < MIN_INTERVAL {
                return Err(table.fault_of("interval", "expected 1s or more"));
            }
            options.interval = interval;
        }
        if !table.flag_or("starter", true)? {
            options.rules.clear();
        }
    }
    let own = rules(root)?;
    // A configured rule replaces the usual one of its name.
    options.rules.retain(|rule| own.iter().all(|own| own.name != rule.name));
    options.rules.extend(own);
    options.receivers = receivers::read(root)?;
    for table in root.tables("alert")? {
        receivers::refuse_unknown(&table, "to", &options.receivers)?;
    }
    Ok((!options.rules.is_empty()).then_some(options))
}

fn rules(root: &Options<'_, '_>) -> Result<Vec<AlertRule>, Fault> {
    let tables = root.tables("alert")?;
    let mut rules: Vec<AlertRule> = Vec::with_capacity(tables.len());
    for table in &tables {
        let rule = rule(table)?;
        if rules.iter().any(|other| other.name == rule.name) {
            return Err(table.fault_of("name", format!("there is an alert \"{}\" already", rule.name)));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn rule(table: &Options<'_, '_>) -> Result<AlertRule, Fault> {
    const KNOWN: [&str; 6] = ["name", "expression", "for", "labels", "text", "to"];
    table.refuse_unknown(KNOWN.into_iter(), "an alert")?;
    let name = receivers::name(table, "\"srv is nearly full\"")?;
    let expression = table.required_text("expression", "\"node_load1 > 100\"")?;
    Query::parse(expression).map_err(|error| table.fault_of("expression", error.to_string()))?;
    let hold = match table.get("for") {
        None => Duration::ZERO,
        Some(value) => {
            let nanos = quantity::age(text(value)?).map_err(|wanted| expected(value, &wanted))?;
            Duration::from_nanos(nanos.0)
        }
    };
    let message = table.text("text")?.unwrap_or("the value is {value}");
    let message = Message::parse(message).map_err(|fault| table.fault_of("text", fault.0))?;
    let mut labels = Vec::new();
    if let Some(value) = table.get("labels") {
        let wanted = || expected(value, "{ severity = \"page\" }");
        for (label, value) in value.get_ref().as_table().ok_or_else(wanted)?.iter() {
            let name = label.get_ref();
            if !is_label(name) || name.starts_with("__") || name == "alertname" {
                return Err(Fault::new(label.span(), format!("\"{name}\" cannot be a label")));
            }
            labels.push((name.to_string(), text(value)?.to_owned()));
        }
    }
    let receivers = table.texts("to")?;
    Ok(AlertRule { name, expression: expression.to_owned(), hold, labels, message, receivers })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<Option<AlertOptions>, Fault> {
        read(&Options::new(parse(text)?.get_ref(), 0..0))
    }

    #[test]
    fn the_starter_rules_are_good_and_can_be_replaced() {
        let starter = rules(&Options::new(parse(STARTER).unwrap().get_ref(), 0..0)).unwrap();
        assert!(starter.len() >= 5);
        assert_eq!(options("").unwrap().unwrap().rules, starter);
        assert_eq!(options("[alerts]\nstarter = false").unwrap(), None);
        let own = format!("[[alert]]\nname = \"{}\"\nexpression = \"up < 1\"", starter[0].name);
        let replaced = options(&own).unwrap().unwrap().rules;
        assert_eq!((replaced.len(), replaced.last().unwrap().expression.as_str()), (starter.len(), "up < 1"));
    }

    #[test]
    fn faults_have_their_place() {
        let alert = "[[alert]]\nname = \"a\"\nexpression = \"up\"\n";
        for (text, message) in [
            ("[[alert]]\nname = \"a\"".to_owned(), "this needs expression"),
            ("[[alert]]\nname = \"a\"\nexpression = \"sum(\"".to_owned(), ""),
            (format!("{alert}{alert}"), "there is an alert \"a\" already"),
            (format!("{alert}to = [\"x\"]"), "there is no [[receiver]]"),
            (format!("{alert}text = \"{{\""), "there is a \"{\" without"),
            (format!("{alert}labels = {{ alertname = \"b\" }}"), "\"alertname\" cannot be a label"),
            ("[[receiver]]\nname = \"r\"".to_owned(), "this needs one of command"),
            ("[[receiver]]\nname = \"r\"\nwebhook = \"ftp://x\"".to_owned(), "expected an address"),
        ] {
            let fault = options(&text).unwrap_err();
            assert!(fault.message.starts_with(message), "{text}: {}", fault.message);
        }
    }
}
