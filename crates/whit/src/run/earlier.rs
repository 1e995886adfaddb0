//! An earlier report, to compare with: documents that `whit run --json --output` wrote.

use std::path::Path;

use facts::unit::Nanos;
use probe::named;
use serde::Deserialize;
use text::printable::Shown as _;

use super::render::FIGURES;
use crate::failure::Failure;

/// What is compared, in the order of [`FIGURES`].
#[derive(Deserialize)]
struct Document {
    document: String,
    wall_ns: u64,
    on_cpu_ns: u64,
    whole: Option<Whole>,
}

#[derive(Deserialize)]
struct Whole {
    run_queue_ns: u64,
    block_io_ns: u64,
    sleeping_ns: Option<u64>,
}

/// The most bytes that a report may have.
const REPORT_BYTES: u64 = 64 << 20;

/// The figures of each run in a report.
pub(super) fn read(path: &Path) -> Result<Vec<[Nanos; FIGURES.len()]>, Failure> {
    let fail = |what: String| Failure::new(format!("{}{what}", path.shown()));
    let text = named::read_text(path, REPORT_BYTES).map_err(|error| fail(format!(": {error}")))?;
    let mut runs = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let document: Document = serde_json::from_str(line).map_err(|error| {
            fail(format!(":{number}:{}: no report of whit run --json: {error}", error.column()))
        })?;
        if document.document != "run" {
            return Err(fail(format!(":{number}: a document \"{}\", and not \"run\"", document.document)));
        }
        let whole = document.whole.unwrap_or(Whole { run_queue_ns: 0, block_io_ns: 0, sleeping_ns: None });
        let sleeping_ns = whole.sleeping_ns.unwrap_or(0);
        let figures =
            [document.wall_ns, document.on_cpu_ns, whole.run_queue_ns, whole.block_io_ns, sleeping_ns];
        runs.push(figures.map(Nanos));
    }
    if runs.is_empty() { Err(fail(": no run in it".to_owned())) } else { Ok(runs) }
}
