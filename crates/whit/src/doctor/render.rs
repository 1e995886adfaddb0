//! The report of `whit doctor`.

use facts::catalog::{METRICS, Values};
use facts::sample::Sample;
use serde_json::{Map, Value, json};

use super::finding::{Finding, State};
use crate::doctor::selftest::{Check, Verdict};
use text::printable::push_printable;
use text::style::{Emphasis, Style};
use text::table::{Align, Table};

/// Writes a line a finding, and below it what to do.
pub(crate) fn write(findings: &[Finding], style: Style, out: &mut String) {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for finding in findings {
        let (word, tone) = match finding.state {
            State::Ok => ("ok", Emphasis::Good),
            State::Limited => ("limited", Emphasis::Caution),
            State::Absent => ("absent", Emphasis::Faint),
        };
        table.cell(|out| style.paint_into(out, tone, |out| out.push_str(word)));
        table.cell(|out| out.push_str(finding.area));
        table.cell(|out| push_printable(out, finding.detail.as_bytes()));
        if let Some(remedy) = &finding.remedy {
            table.row(["", "", &format!("→ {remedy}")]);
        }
    }
    table.write_rows(out);
}

/// Writes a line a check.
pub(crate) fn write_checks(checks: &[Check], style: Style, out: &mut String) {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for check in checks {
        let (word, tone) = match check.verdict {
            Verdict::Pass => ("pass", Emphasis::Good),
            Verdict::Absent => ("absent", Emphasis::Faint),
            Verdict::Fail => ("FAIL", Emphasis::Bad),
        };
        table.cell(|out| style.paint_into(out, tone, |out| out.push_str(word)));
        table.cell(|out| out.push_str(check.name));
        table.cell(|out| push_printable(out, check.detail.as_bytes()));
    }
    table.write_rows(out);
}

/// Writes every metric with the values that a machine has of it.
pub(crate) fn write_metrics(sample: &Sample, out: &mut String) {
    let mut table = Table::new(&[
        ("METRIC", Align::Left),
        ("VALUE", Align::Right),
        ("KIND", Align::Left),
        ("SINCE", Align::Left),
        ("SOURCE", Align::Left),
        ("", Align::Left),
    ]);
    for metric in METRICS {
        table.row([
            metric.name,
            &value_cell(metric, sample),
            metric.kind.name(),
            metric.since,
            metric.source.path(),
            metric.help,
        ]);
    }
    table.write(out);
}

/// One value as it is; of several their number.
fn value_cell(metric: &facts::catalog::Metric, sample: &Sample) -> String {
    let mut values = Vec::new();
    metric.visit(sample, &mut |_, value| values.push(value));
    match (metric.values, values.as_slice()) {
        (_, []) => text::ABSENT.to_owned(),
        (Values::One(_), [value, ..]) => value.to_string(),
        (Values::Each(label, _), values) => format!("{} × {label}", values.len()),
    }
}

/// The metrics for programs: every value, by its label.
pub(crate) fn metrics_json(sample: &Sample) -> Value {
    let rows = METRICS.iter().map(|metric| {
        let mut values = Map::new();
        metric.visit(sample, &mut |label, value| {
            values.insert(label.to_owned(), value.into());
        });
        let (label, values) = match metric.values {
            Values::One(_) => (None, values.remove("").unwrap_or(Value::Null)),
            Values::Each(label, _) => (Some(label), Value::Object(values)),
        };
        json!({
            "name": metric.name,
            "unit": metric.unit.description(),
            "kind": metric.kind.name(),
            "source": metric.source.path(),
            "since": metric.since,
            "help": metric.help,
            "label": label,
            "value": values,
        })
    });
    Value::Array(rows.collect())
}
