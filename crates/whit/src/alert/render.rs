//! Alerts as text and JSON.

use std::fmt::Write as _;

use ::query::number::write_in_full;
use alerts::{Active, AlertOptions, AlertRule, Fired, Silence};
use facts::unit::Nanos;
use formats::series_name::SeriesName;
use notify::Delivery;
use serde_json::{Value, json};
use text::printable::Shown as _;
use text::table::{Align, Table};
use text::units::Span;

use crate::delivery;
use command::time_zone::written_ms as time;
use configuration::quoted;

/// Says how many rules there are, and who gets notifications, by a configuration of this name.
pub(super) fn watched(options: Option<&AlertOptions>, configuration: &str) -> String {
    let Some(options) = options else {
        return format!("nothing is watched for: {configuration} has no rules\n");
    };
    let interval = Span(Nanos::from(options.interval));
    let receivers: Vec<&str> = options.receivers.iter().map(|receiver| receiver.name.as_str()).collect();
    let receivers = match receivers.is_empty() {
        true => format!("no notifications are sent: {configuration} has no [[receiver]]"),
        false => format!("notifications go to {}", receivers.join(", ").shown()),
    };
    format!("{} rules, each evaluated every {interval}; {receivers}\n", options.rules.len())
}

/// Lists alerts, silences, and notifications that could not be sent.
pub(super) fn list(
    active: &[Active],
    silences: &[(i64, Silence)],
    deliveries: &[(i64, Delivery<Active>)],
    now_ms: i64,
) -> String {
    let mut text = String::new();
    if active.is_empty() {
        text.push_str("no alerts\n");
    } else {
        let mut ordered: Vec<&Active> = active.iter().collect();
        ordered.sort_by_key(|alert| (alert.firing_since_ms.is_none(), alert.since_ms));
        let is_silenced =
            |alert: &Active| silences.iter().any(|(_, silence)| silence.covers(&alert.name(), now_ms));
        let mut table = Table::new(&[
            ("STATE", Align::Left),
            ("SINCE", Align::Left),
            ("ALERT", Align::Left),
            ("", Align::Left),
        ]);
        for alert in ordered {
            let state = if is_silenced(alert) { "silenced" } else { alert.state() };
            table.cell(|cell| cell.push_str(state));
            table.cell(|cell| cell.push_str(&time(alert.since_ms)));
            table.cell(|cell| cell.push_str(&alert.rule().shown().to_string()));
            table.cell(|cell| cell.push_str(&alert.text.shown().to_string()));
        }
        table.write(&mut text);
    }
    for (number, silence) in silences {
        let left = Span(Nanos(u64::try_from(silence.until_ms - now_ms).unwrap_or(0) * 1_000_000));
        let comment = if silence.comment.is_empty() { "" } else { ": " };
        let _ = writeln!(
            text,
            "silence {number} of {}, for {left} more{comment}{}",
            silence.selector.shown(),
            silence.comment.shown()
        );
    }
    let all = deliveries.iter().map(|(_, delivery)| delivery);
    delivery::push_lines(all, |alert| alert.rule().to_owned(), &mut text);
    text
}

pub(super) fn alert_json(alert: &Active) -> Value {
    json!({
        "name": alert.rule(),
        "state": alert.state(),
        "labels": alert.labels,
        "since_realtime_ns": alert.since_ms * 1_000_000,
        "firing_since_realtime_ns": alert.firing_since_ms.map(|since| since * 1_000_000),
        "value": alert.value,
        "text": alert.text,
    })
}

pub(super) fn delivery_json(delivery: &Delivery<Active>) -> Value {
    delivery::json(delivery, json!({ "alert": delivery.subject.rule(), "is_end": delivery.is_end }))
}

/// A rule as TOML.
pub(super) fn push_rule(rule: &AlertRule, text: &mut String) {
    let _ =
        write!(text, "[[alert]]\nname = {}\nexpression = {}\n", quoted(&rule.name), quoted(&rule.expression));
    if !rule.hold.is_zero() {
        let _ = writeln!(text, "for = \"{}s\"", rule.hold.as_secs_f64());
    }
    if !rule.labels.is_empty() {
        let labels: Vec<String> =
            rule.labels.iter().map(|(label, value)| format!("{label} = {}", quoted(value))).collect();
        let _ = writeln!(text, "labels = {{ {} }}", labels.join(", "));
    }
    let _ = writeln!(text, "text = {}", quoted(rule.message.source()));
    if !rule.receivers.is_empty() {
        let names: Vec<String> = rule.receivers.iter().map(|name| quoted(name)).collect();
        let _ = writeln!(text, "to = [{}]", names.join(", "));
    }
    text.push('\n');
}

/// Describes the present values of a rule's expression.
pub(super) fn found(rule: &AlertRule, found: &[(SeriesName, f64)]) -> String {
    let name = rule.name.shown();
    if found.is_empty() {
        return format!("{name}: nothing\n");
    }
    let hold = match rule.hold.is_zero() {
        true => String::new(),
        false => format!(" after {}", Span(Nanos::from(rule.hold))),
    };
    let mut text = String::new();
    for (series, value) in found {
        let said = rule.message.write(series, *value);
        let _ = writeln!(text, "{name}: fires{hold}: {}", said.shown());
        let series = series.to_string();
        let _ = writeln!(text, "    {} {}", write_in_full(*value), series.shown());
    }
    text
}

/// When a rule would have fired.
pub(super) fn fired(rule: &AlertRule, fired: &[Fired]) -> String {
    let name = rule.name.shown();
    if fired.is_empty() {
        return format!("{name}: would not have fired\n");
    }
    let mut text = String::new();
    for Fired { alert, until_ms } in fired {
        let from = time(alert.firing_since_ms.unwrap_or(alert.since_ms));
        let until = until_ms.map_or_else(|| "the end".to_owned(), time);
        let _ = writeln!(text, "{name}: {from} to {until}: {}", alert.text.shown());
    }
    text
}
