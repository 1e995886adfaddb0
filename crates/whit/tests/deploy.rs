//! What deploy/fleet has is what the program makes, and asks for series that there are.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use std::path::{Path, PathBuf};
use std::process::Command;

use facts::catalog::{METRICS, agent_metric};
use query::Query;
use serde_json::Value;

const WHIT: &str = env!("CARGO_BIN_EXE_whit");
/// Made by the agent, but no metrics of a machine.
const OTHERS: [&str; 1] = ["ALERTS"];

fn fleet() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/fleet")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = fleet().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn is_recorded(metric: &str) -> bool {
    // Those with a colon are made by recording rules.
    let is_by_rule = metric.contains(':') && {
        let rules = include_str!("../../remote_write/src/starter.toml");
        rules.contains(&format!("name = \"{metric}\""))
    };
    is_by_rule
        || METRICS.iter().any(|row| row.name == metric)
        || agent_metric(metric).is_some()
        || OTHERS.contains(&metric)
}

fn check(expression: &str) {
    let query = Query::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
    for metric in query.metrics().unwrap_or_else(|| panic!("{expression}: a metric without a name")) {
        assert!(is_recorded(&metric), "{expression}: {metric} is not recorded");
    }
}

#[test]
fn the_rules_are_those_of_the_program() {
    let config = fleet().join("alerts.toml");
    let output =
        Command::new(WHIT).args(["alert", "rules", "--prometheus", "--config"]).arg(config).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), read("rules.yml"), "cargo xtask docs");
    let own: toml::Table = read("alerts.toml").parse().unwrap();
    for rule in own["alert"].as_array().unwrap() {
        check(rule["expression"].as_str().unwrap());
    }
}

#[test]
fn dashboards_ask_for_what_is_recorded() {
    let mut files = 0;
    for entry in std::fs::read_dir(fleet().join("dashboards")).unwrap() {
        let dashboard: Value = serde_json::from_str(&read(entry.unwrap().path())).unwrap();
        let panels = dashboard["panels"].as_array().unwrap();
        for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
            let expression = target["expr"].as_str().unwrap();
            check(&expression.replace("$instance", "web1").replace("$__rate_interval", "1m"));
        }
        files += 1;
    }
    assert_eq!(files, 4);
}
