//! docs/metrics.md, made from the rows.

use std::fmt::Write as _;

use super::{METRICS, Values};

/// The whole page.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Metrics\n\nMade from the catalogue by `cargo xtask docs`; a test holds the two together. `whit doctor --metrics` \
         prints what a machine\nsays of each. A counter is meant to be subtracted; what a kernel does not have is absent, \
         never zero.\n\n\
         | metric | label | unit | kind | source | since Linux | |\n|---|---|---|---|---|---|---|\n",
    );
    for metric in METRICS {
        let label = match metric.values {
            Values::One(_) => "",
            Values::Each(label, _) => label,
        };
        let kind = metric.kind.name();
        // A String takes whatever is written to it.
        let _ = writeln!(
            page,
            "| `{}` | {label} | {} | {kind} | `{}` | {} | {} |",
            metric.name,
            metric.unit.description(),
            metric.source.path(),
            metric.since,
            metric.help
        );
    }
    page
}
