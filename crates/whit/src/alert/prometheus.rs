//! Rules for a store of many machines.

use std::fmt::Write as _;
use std::time::Duration;

use alerts::AlertOptions;
use serde_json::Value;

/// Writes the rules as a file that Prometheus and vmalert read
/// (<https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/>). Texts are JSON, which is YAML as well.
pub(super) fn rules(options: &AlertOptions) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let mut file = String::from("groups:\n  - name: whit\n");
    let _ = writeln!(file, "    interval: {}", duration(options.interval));
    file.push_str("    rules:\n");
    for rule in &options.rules {
        let _ = writeln!(file, "      - alert: {}", quoted(&rule.name));
        // Lines stay lines.
        let lines: Vec<&str> = rule.expression.trim().lines().collect();
        let _ = writeln!(file, "        expr: |-\n          {}", lines.join("\n          "));
        if !rule.hold.is_zero() {
            let _ = writeln!(file, "        for: {}", duration(rule.hold));
        }
        if !rule.labels.is_empty() {
            file.push_str("        labels:\n");
        }
        for (label, value) in &rule.labels {
            let _ = writeln!(file, "          {label}: {}", quoted(value));
        }
        let summary = quoted(&rule.message.prometheus_template());
        let _ = writeln!(file, "        annotations:\n          summary: {summary}");
    }
    file
}

/// In the largest unit of which it is a multiple: Prometheus has no fractions.
fn duration(duration: Duration) -> String {
    const UNITS: [(u128, &str); 4] = [(3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")];
    let ms = duration.as_millis();
    let (of, unit) = UNITS.into_iter().find(|(of, _)| ms.is_multiple_of(*of)).unwrap_or((1, "ms"));
    format!("{}{unit}", ms / of)
}
