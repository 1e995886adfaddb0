//! docs/metrics.md from the catalogue, docs/bar.md from the bar's tables.

use std::process::Command;

use crate::outcome::Outcome;

pub(crate) fn write() -> Outcome {
    let keep =
        |path: &str, text: &[u8]| std::fs::write(path, text).map_err(|error| format!("{path}: {error}"));
    keep("docs/metrics.md", facts::catalog::markdown().as_bytes())?;
    let words = ["run", "--quiet", "--package", "whit", "--", "bar", "--reference"];
    let output = Command::new("cargo").args(words).output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("whit bar --reference: {}", output.status));
    }
    keep("docs/bar.md", &output.stdout)
}
