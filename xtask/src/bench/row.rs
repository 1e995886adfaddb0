//! A row of the results.

use super::process::Spread;

/// One row of the report.
pub(super) fn print_row(what: &str, ours: f64, theirs: f64, ratios: &Spread, limit: &str) {
    let quartiles = format!("{:.3} ({:.3} to {:.3})", ratios.median, ratios.lower, ratios.upper);
    println!("{what:<36} {:>8.0} µs {:>8.0} µs {quartiles:>22}  {limit}", ours / 1e3, theirs / 1e3);
}
