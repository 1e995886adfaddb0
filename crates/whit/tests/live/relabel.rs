//! Relabelling against Prometheus itself: its targets are labels that its own rules have changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Scratch, WHIT, wait_for};
use super::prometheus::Prometheus;
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let prometheus = [Need::Program("prometheus"), Need::Program("promtool")];
    vec![
        exact("relabelling_does_what_prometheus_does", &prometheus, valid),
        exact("relabelling_refuses_what_prometheus_refuses", &prometheus, invalid),
    ]
}

/// The labels of all targets, as they are configured.
const LABELS: [(&str, &str); 14] = [
    ("__name__", "up"),
    ("a", "1"),
    ("b", "two"),
    ("c", "x-y-z"),
    ("path", "/var/log/app.log"),
    ("mode", "User"),
    ("same", "two"),
    ("street", "Straße ÄÖİ"),
    ("blank", "two words"),
    ("quote", "say \"x\" \\ y"),
    ("digits", "0123"),
    ("arabic", "٤٢"),
    ("mixed", "aB3_"),
    ("z", "last"),
];
/// Those that Prometheus adds before its rules.
const ADDED: [(&str, &str); 5] = [
    ("__address__", "localhost:1"),
    ("__metrics_path__", "/metrics"),
    ("__scheme__", "http"),
    ("__scrape_interval__", "1d"),
    ("__scrape_timeout__", "10s"),
];

/// Lists of rules.
const RULES: [&str; 98] = [
    "[{ source_labels: [a], target_label: new }]",
    "[{ source_labels: [a, b], target_label: new }]",
    "[{ source_labels: [a, b], separator: '', target_label: new }]",
    "[{ source_labels: [a, b, c], separator: ' / ', target_label: new }]",
    "[{ source_labels: [absent], target_label: new }]",
    "[{ source_labels: [absent, a], target_label: new }]",
    "[{ source_labels: [absent], target_label: a }]",
    "[{ target_label: new, replacement: constant }]",
    "[{ target_label: a, replacement: '' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '$3$2$1' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '${3}x${1}' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '$3x$1' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '$0' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '$9' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: c, replacement: '$9' }]",
    "[{ source_labels: [c], regex: '(?P<first>.)-.*', target_label: new, replacement: '<${first}>' }]",
    "[{ source_labels: [c], regex: '(?P<first>.)-.*', target_label: new, replacement: '$first' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '$$1' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: 'cost $' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '${1' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '${}' }]",
    "[{ source_labels: [c], regex: '(.)-(.)-(.)', target_label: new, replacement: '$-1' }]",
    "[{ source_labels: [c], regex: 'x', target_label: new, replacement: no }]",
    "[{ source_labels: [c], regex: 'x.*', target_label: new, replacement: yes }]",
    "[{ source_labels: [c], regex: '.*z', target_label: new, replacement: yes }]",
    "[{ source_labels: [c], regex: 'x|x-y-z', target_label: new, replacement: yes }]",
    "[{ source_labels: [c], regex: '^x-y-z$', target_label: new, replacement: yes }]",
    "[{ source_labels: [c], regex: '(?i)X-Y-Z', target_label: new, replacement: yes }]",
    "[{ source_labels: [path], regex: '/(\\w+)/(\\w+)/(\\w+)\\.(\\w+)', target_label: new, replacement: '$4 $3 $2 $1' }]",
    "[{ source_labels: [path], regex: '(.*)/([^/]*)', target_label: new, replacement: '$2' }]",
    "[{ source_labels: [path], regex: '(.*?)/([^/]*).*', target_label: new, replacement: '[$1|$2]' }]",
    "[{ source_labels: [b], regex: '(.+)', target_label: '${1}_label', replacement: yes }]",
    "[{ source_labels: [b], regex: '(.+)', target_label: '$1', replacement: yes }]",
    "[{ source_labels: [a], regex: '(.+)', target_label: '${1}_label', replacement: yes }]",
    "[{ source_labels: [blank], regex: '(.+)', target_label: 'is_$1', replacement: yes }]",
    "[{ source_labels: [digits], regex: '\\d+', target_label: new, replacement: yes }]",
    "[{ source_labels: [arabic], regex: '\\d+', target_label: new, replacement: yes }]",
    "[{ source_labels: [arabic], regex: '\\D+', target_label: new, replacement: yes }]",
    "[{ source_labels: [arabic], regex: '\\pN+', target_label: new, replacement: yes }]",
    "[{ source_labels: [street], regex: '\\w+ .*', target_label: new, replacement: yes }]",
    "[{ source_labels: [street], regex: '\\pL+ .*', target_label: new, replacement: yes }]",
    "[{ source_labels: [street], regex: '(?i)STRAßE .*', target_label: new, replacement: yes }]",
    "[{ source_labels: [street], regex: '(\\S+)\\s(\\S+)', target_label: new, replacement: '$2' }]",
    "[{ source_labels: [street], regex: '[^\\W]+.*', target_label: new, replacement: yes }]",
    "[{ source_labels: [street], regex: 'Stra.e .{3}', target_label: new, replacement: yes }]",
    "[{ source_labels: [quote], regex: 'say \"(.*)\" (.*)', target_label: new, replacement: '$1$2' }]",
    "[{ source_labels: [quote], regex: '.*\\\\.*', target_label: new, replacement: yes }]",
    "[{ source_labels: [c], regex: '[x\\-y[z]+', target_label: new, replacement: yes }]",
    "[{ source_labels: [c], regex: '[]x-z-]+', target_label: new, replacement: yes }]",
    "[{ source_labels: [b], regex: '[a-z&&w]+', target_label: new, replacement: yes }]",
    "[{ source_labels: [mixed], regex: '[[:alnum:]_]+', target_label: new, replacement: yes }]",
    "[{ source_labels: [mixed], regex: '[[:lower:]][[:upper:]][[:digit:]][[:^alpha:]]', target_label: new, replacement: yes }]",
    "[{ source_labels: [path], regex: '\\Q/var/log\\E.*', target_label: new, replacement: yes }]",
    "[{ source_labels: [path], regex: '.*\\blog\\b.*', target_label: new, replacement: yes }]",
    "[{ source_labels: [path], regex: '.*\\.log\\z', target_label: new, replacement: yes }]",
    "[{ source_labels: [path], regex: '(?:/[a-z]+){2}.*', target_label: new, replacement: yes }]",
    "[{ source_labels: [path], regex: '(/[a-z]+)+.*', target_label: new, replacement: '$1' }]",
    "[{ source_labels: [path], regex: '(?U)/(.*)/(.*)', target_label: new, replacement: '$1|$2' }]",
    "[{ source_labels: [a], regex: 1, target_label: new, replacement: 2 }]",
    "[{ source_labels: [a], regex: '', target_label: new, replacement: no }]",
    "[{ source_labels: [absent], regex: '', target_label: new, replacement: yes }]",
    "[{ source_labels: [a], action: keep, regex: 1 }]",
    "[{ source_labels: [a], action: keep, regex: 2 }]",
    "[{ source_labels: [a, b], action: keep, regex: '1;two' }]",
    "[{ source_labels: [absent], action: keep, regex: '' }]",
    "[{ source_labels: [a], action: drop, regex: 1 }]",
    "[{ source_labels: [a], action: drop, regex: 2 }]",
    "[{ source_labels: [a], action: Drop }]",
    "[{ source_labels: [b], action: dropequal, target_label: same }]",
    "[{ source_labels: [a], action: dropequal, target_label: same }]",
    "[{ source_labels: [b], action: keepequal, target_label: same }]",
    "[{ source_labels: [a], action: keepequal, target_label: same }]",
    "[{ source_labels: [absent], action: keepequal, target_label: missing }]",
    "[{ source_labels: [a], action: hashmod, modulus: 10, target_label: new }]",
    "[{ source_labels: [path, street], action: hashmod, modulus: 1000003, target_label: new }]",
    "[{ source_labels: [path, street], separator: '-', action: hashmod, modulus: 18446744073709551615, target_label: new }]",
    "[{ source_labels: [absent], action: hashmod, modulus: 7, target_label: new }]",
    "[{ source_labels: [a], action: hashmod, modulus: 1, target_label: a }]",
    "[{ action: labelmap, regex: '(m.*)', replacement: 'new_$1' }]",
    "[{ action: labelmap, regex: 'm(.*)' }]",
    "[{ action: labelmap, regex: '(a|b)', replacement: other }]",
    "[{ action: labelmap, regex: 'nothing' }]",
    "[{ action: labelmap, regex: '(.)', replacement: '${1}${1}' }]",
    "[{ action: labeldrop, regex: 'a|b' }]",
    "[{ action: labeldrop, regex: 'm' }]",
    "[{ action: labeldrop, regex: 'm.*' }]",
    "[{ action: labelkeep, regex: '__.*|job|a|b' }]",
    "[{ action: labelkeep, regex: '__.*|.*' }]",
    "[{ source_labels: [mode], action: lowercase, target_label: mode }]",
    "[{ source_labels: [mode, a], action: lowercase, target_label: new }]",
    "[{ source_labels: [street], action: lowercase, target_label: new }]",
    "[{ source_labels: [street], action: uppercase, target_label: new }]",
    "[{ source_labels: [absent], action: uppercase, target_label: a }]",
    "[{ source_labels: [a], target_label: instance }, { source_labels: [instance], target_label: new }]",
    "[{ source_labels: [a], target_label: tmp }, { source_labels: [tmp], regex: 1, action: keep }, { action: labeldrop, regex: tmp }]",
    "[{ action: labelmap, regex: '(.)', replacement: 'was_$1' }, { action: labeldrop, regex: '.' }, { source_labels: [a, was_a], target_label: new }]",
    "[{ target_label: job, replacement: other }, { source_labels: [job], target_label: new }]",
    "[{ source_labels: [__address__], regex: '(.*):(.*)', target_label: instance, replacement: '$1' }]",
];

/// Rules that are none.
const INVALID: [&str; 15] = [
    "[{ source_labels: [a] }]",
    "[{ source_labels: [a], target_label: 'a-b' }]",
    "[{ source_labels: [a], target_label: '1a' }]",
    "[{ source_labels: [a], target_label: new, regex: '(' }]",
    "[{ source_labels: [a], target_label: new, action: rename }]",
    "[{ source_labels: ['a-b'], target_label: new }]",
    "[{ source_labels: [a], target_label: new, action: hashmod }]",
    "[{ source_labels: [a], action: hashmod, modulus: 3 }]",
    "[{ source_labels: [a], action: uppercase, target_label: new, replacement: x }]",
    "[{ action: labelmap, regex: '(.*)', replacement: 'a-$1' }]",
    "[{ action: labeldrop, regex: a, source_labels: [a] }]",
    "[{ action: labelkeep, regex: a, target_label: a }]",
    "[{ action: dropequal, source_labels: [a], target_label: b, regex: x }]",
    "[{ action: keepequal, source_labels: [a] }]",
    "[{ action: drop, source: [a] }]",
];

type Labels = BTreeMap<String, String>;

fn configuration(rules: &[&str]) -> String {
    let mut yaml = "scrape_configs:\n".to_owned();
    let pairs: Vec<String> = LABELS.iter().map(|(label, value)| format!("{label}: {value:?}")).collect();
    let labels = pairs.join(", ");
    for (number, rules) in rules.iter().enumerate() {
        // Nobody listens there, and nobody is asked within a day.
        let _ = write!(
            yaml,
            "- job_name: case{number}\n  scrape_interval: 1d\n  static_configs:\n  - targets: ['localhost:1']\n    labels: {{ {labels} }}\n  relabel_configs: {rules}\n"
        );
    }
    yaml
}

fn labels(value: &Value) -> Labels {
    let labels = value.as_object().unwrap().iter();
    labels.map(|(label, value)| (label.clone(), value.as_str().unwrap().to_owned())).collect()
}

fn series(labels: &Labels) -> String {
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}={value:?}")).collect();
    format!("{{{}}}\n", labels.join(","))
}

/// What whit makes of these labels; `None` if it drops them.
fn relabelled(scratch: &Scratch, rules: &str, before: &Labels) -> Result<Option<Labels>, Failed> {
    let path = scratch.0.join("rules.yml");
    fs::write(&path, rules)?;
    let mut child = Command::new(WHIT)
        .args(["relabel", "--rules"])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("stdin")?.write_all(series(before).as_bytes())?;
    let output = child.wait_with_output()?;
    assert!(output.status.success(), "{rules}: {output:?}");
    let text = String::from_utf8(output.stdout)?;
    let Some((_, inside)) = text.trim_end().split_once('{') else { return Ok(None) };
    // Its values are escaped as JSON escapes them.
    let mut json = String::from("{");
    let mut is_quoted = false;
    let mut letters = inside.trim_end_matches('}').chars().peekable();
    json.push('"');
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => json.extend([letter, letters.next().ok_or("an escape")?]),
            '"' => {
                is_quoted = !is_quoted;
                json.push('"');
            }
            '=' if !is_quoted => json.push_str("\":"),
            ',' if !is_quoted => json.push_str(",\""),
            letter => json.push(letter),
        }
    }
    json.push('}');
    let mut after = labels(&serde_json::from_str(&json)?);
    // What Prometheus does with targets behind the rules.
    let address = after.get("__address__").cloned().unwrap_or_default();
    after.entry("instance".to_owned()).or_insert(address);
    after.retain(|label, _| !label.starts_with("__"));
    Ok(Some(after))
}

fn valid() -> Result<(), Failed> {
    let scratch = Scratch::new("relabel-valid");
    let prometheus = Prometheus::start(&scratch, &configuration(&RULES), &[])?;
    let mut targets = Value::Null;
    wait_for("prometheus has its targets", || {
        targets = prometheus.get("/api/v1/targets?state=any").unwrap_or_default()["data"].take();
        let count = |key: &str| targets[key].as_array().map_or(0, Vec::len);
        count("activeTargets") + count("droppedTargets") == RULES.len()
    });
    // The labels before the rules, as Prometheus tells them, are overwritten by the rules: they are those of the configuration.
    let active = targets["activeTargets"].as_array().ok_or("targets")?;
    let mut different = Vec::new();
    for (number, rules) in RULES.iter().enumerate() {
        let job = format!("case{number}");
        let target = active.iter().find(|target| target["scrapePool"] == job);
        let after = target.map(|target| labels(&target["labels"]));
        let pairs = LABELS.iter().chain(&ADDED).copied().chain([("job", job.as_str())]);
        let before = pairs.map(|(label, value)| (label.to_owned(), value.to_owned())).collect();
        let own = relabelled(&scratch, rules, &before)?;
        if own != after {
            different.push(format!("{rules}\n whit       {own:?}\n prometheus {after:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    Ok(())
}

fn invalid() -> Result<(), Failed> {
    let scratch = Scratch::new("relabel-invalid");
    let (file, alone) = (scratch.0.join("prometheus.yml"), scratch.0.join("rules.yml"));
    let checks = |rules: &str| -> Result<(bool, bool), Failed> {
        fs::write(&file, configuration(&[rules]))?;
        fs::write(&alone, rules)?;
        let theirs = Command::new("promtool").args(["check", "config"]).arg(&file).output()?;
        let ours = Command::new(WHIT).args(["relabel", "--import"]).arg(&alone).output()?;
        Ok((theirs.status.success(), ours.status.success()))
    };
    for rules in INVALID {
        assert_eq!(checks(rules)?, (false, false), "{rules}");
    }
    for rules in RULES.iter().step_by(7) {
        assert_eq!(checks(rules)?, (true, true), "{rules}");
    }
    Ok(())
}
