//! Writes what is made from tables in the code.

use crate::Done;

/// docs/metrics.md, from the catalogue.
pub(crate) fn write() -> Done {
    std::fs::write("docs/metrics.md", facts::catalog::markdown())
        .map_err(|error| format!("docs/metrics.md: {error}"))
}
