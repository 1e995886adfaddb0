//! docs/metrics.md from the catalogue, docs/bar.md from the bar's tables, docs/grammar.md from the options.

use std::process::Command;

use crate::outcome::Outcome;

pub(crate) fn write() -> Outcome {
    let keep =
        |path: &str, text: &[u8]| std::fs::write(path, text).map_err(|error| format!("{path}: {error}"));
    keep("docs/metrics.md", facts::catalog::markdown().as_bytes())?;
    for (path, words) in [("docs/bar.md", ["bar", "--reference"]), ("docs/grammar.md", ["man", "--grammar"])]
    {
        let mut cargo = Command::new("cargo");
        cargo.args(["run", "--quiet", "--package", "whit", "--"]).args(words);
        let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("whit {}: {}", words.join(" "), output.status));
        }
        keep(path, &output.stdout)?;
    }
    Ok(())
}
