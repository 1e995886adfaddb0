//! The report of `whit doctor`.

use facts::catalog::{METRICS, Metric};
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
fn value_cell(metric: &Metric, sample: &Sample) -> String {
    let mut values = Vec::new();
    metric.visit(sample, &mut |_, value| values.push(value));
    match values.as_slice() {
        [] => text::ABSENT.to_owned(),
        [value] if metric.labels.is_empty() => value.to_string(),
        values => format!("{} × {}", values.len(), metric.labels.join(", ")),
    }
}

/// The metrics for programs: every value with its labels.
pub(crate) fn metrics_json(sample: &Sample) -> Value {
    let rows = METRICS.iter().map(|metric| {
        let mut values = Vec::new();
        metric.visit(sample, &mut |labels, value| {
            let labels = metric.labels.iter().zip(labels);
            let labels: Map<String, Value> =
                labels.map(|(name, value)| ((*name).to_owned(), value.to_string().into())).collect();
            values.push(json!({ "labels": labels, "value": value }));
        });
        json!({
            "name": metric.name,
            "labels": metric.labels,
            "unit": metric.unit.description(),
            "kind": metric.kind.name(),
            "source": metric.source.path(),
            "since": metric.since,
            "help": metric.help,
            "values": values,
        })
    });
    Value::Array(rows.collect())
}
