//! What is made of tables: docs/metrics.md from the catalogue, docs/bar.md from the bar's, docs/grammar.md from the options, and
//! deploy/fleet: rules from those of alerts, and dashboards.

use std::process::Command;

use crate::dashboards;
use crate::outcome::Outcome;

pub(crate) fn write() -> Outcome {
    let keep =
        |path: &str, text: &[u8]| std::fs::write(path, text).map_err(|error| format!("{path}: {error}"));
    keep("docs/metrics.md", facts::catalog::markdown().as_bytes())?;
    for (path, words) in [
        ("docs/bar.md", "bar --reference"),
        ("docs/grammar.md", "man --grammar"),
        ("deploy/fleet/rules.yml", "alert rules --prometheus --config deploy/fleet/alerts.toml"),
    ] {
        let mut cargo = Command::new("cargo");
        cargo.args(["run", "--quiet", "--package", "whit", "--"]).args(words.split(' '));
        let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("whit {}: {}", words, output.status));
        }
        keep(path, &output.stdout)?;
    }
    dashboards::write()
}
