//! Rules for a store of many machines.

use std::fmt::Write as _;
use std::time::Duration;

use alerts::{AlertOptions, template_of};
use serde_json::Value;

/// Writes the rules as a file that Prometheus and vmalert read
/// (<https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/>), without the receivers.
pub(super) fn rules(options: &AlertOptions) -> String {
    let mut file = String::from("groups:\n  - name: whit\n");
    let _ = writeln!(file, "    interval: {}", duration(options.interval));
    file.push_str("    rules:\n");
    for rule in &options.rules {
        let _ = writeln!(file, "      - alert: {}", quoted(&rule.name));
        let expression = rule.expression.trim();
        let _ = match expression.chars().any(|letter| letter != '\n' && !is_printable(letter)) {
            true => writeln!(file, "        expr: {}", quoted(expression)),
            // Lines stay lines.
            false => {
                writeln!(file, "        expr: |-\n          {}", expression.replace('\n', "\n          "))
            }
        };
        if !rule.hold.is_zero() {
            let _ = writeln!(file, "        for: {}", duration(rule.hold));
        }
        if !rule.labels.is_empty() {
            file.push_str("        labels:\n");
        }
        for (label, value) in &rule.labels {
            let _ = writeln!(file, "          {label}: {}", quoted(&template_of(value)));
        }
        let summary = quoted(&rule.message.prometheus_template());
        let _ = writeln!(file, "        annotations:\n          summary: {summary}");
    }
    file
}

/// Text as a double-quoted scalar of YAML, which JSON's strings are but for letters that YAML wants as numbers.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for letter in Value::from(text).to_string().chars() {
        if is_printable(letter) {
            quoted.push(letter);
        } else {
            let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
        }
    }
    quoted
}

/// Whether a letter stands for itself everywhere (YAML 1.2, 5.1 and 5.4).
fn is_printable(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Writes a duration with one unit and without a fraction, as Prometheus reads it: 90s, 2h.
fn duration(duration: Duration) -> String {
    const UNITS: [(u128, &str); 4] = [(3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")];
    let ms = duration.as_micros().div_ceil(1000);
    let (of, unit) = UNITS.into_iter().find(|(of, _)| ms.is_multiple_of(*of)).unwrap_or((1, "ms"));
    format!("{}{unit}", ms / of)
}

#[cfg(test)]
mod tests {
    use alerts::{AlertRule, Message};

    use super::*;

    #[test]
    fn what_yaml_or_templates_would_read_otherwise_is_escaped() {
        let rule = |expression: &str, hold: Duration| AlertRule {
            name: "a \"b\"".to_owned(),
            expression: expression.to_owned(),
            hold,
            labels: vec![("a".to_owned(), "{{ x }}".to_owned())],
            message: Message::parse("{mountpoint}: {value}").unwrap(),
            receivers: Vec::new(),
        };
        let mut options = alerts::tables::usual();
        options.rules = vec![
            rule("\n  up # why\n  > 1\n", Duration::from_secs(90)),
            rule("x{a=\"\u{2028}\"}", Duration::from_micros(1)),
            rule("x", Duration::from_secs(7200)),
        ];
        let file = rules(&options);
        for part in [
            "      - alert: \"a \\\"b\\\"\"\n        expr: |-\n          up # why\n            > 1\n        for: 90s\n",
            "        expr: \"x{a=\\\"\\u2028\\\"}\"\n        for: 1ms\n",
            "          x\n        for: 2h\n        labels:\n          a: \"{{\\\"{\\\"}}{{\\\"{\\\"}} x }}\"\n",
            "        annotations:\n          summary: \"{{ $labels.mountpoint }}: {{ $value }}\"\n",
        ] {
            assert!(file.contains(part), "{part}\n{file}");
        }
    }
}
