//! An earlier report, to compare with: documents that `whit run --json --output` wrote.

use std::path::Path;

use probe::named;
use serde::Deserialize;
use text::printable::Shown as _;

use super::comparison::{Amount, Earlier, RunFigures};
use command::failure::Failure;

/// The part of a document that is compared.
#[derive(Deserialize)]
struct Document {
    document: String,
    command: Vec<String>,
    wall_ns: u64,
    on_cpu_ns: u64,
    user_ns: u64,
    system_ns: u64,
    peak_resident_bytes: Option<u64>,
    whole: Option<Whole>,
}

#[derive(Deserialize)]
struct Whole {
    sleeping_ns: Option<u64>,
    read_bytes: Option<u64>,
    written_bytes: Option<u64>,
    delays: Delays,
}

#[derive(Deserialize)]
struct Delays {
    run_queue: Delay,
    block_io: Delay,
}

#[derive(Deserialize)]
struct Delay {
    total_ns: Option<u64>,
    uncounted_threads: u64,
}

impl Document {
    fn figures(&self) -> RunFigures {
        let whole = self.whole.as_ref();
        let waited = |delay: fn(&Delays) -> &Delay| {
            let delay = delay(&whole?.delays);
            delay.total_ns.map(|value| Amount { value, is_least: delay.uncounted_threads > 0 })
        };
        let of_whole = |figure: fn(&Whole) -> Option<u64>| whole.and_then(figure).map(Amount::exact);
        [
            Some(Amount::exact(self.wall_ns)),
            Some(Amount::exact(self.on_cpu_ns)),
            Some(Amount::exact(self.user_ns)),
            Some(Amount::exact(self.system_ns)),
            waited(|delays| &delays.run_queue),
            waited(|delays| &delays.block_io),
            of_whole(|whole| whole.sleeping_ns),
            self.peak_resident_bytes.map(Amount::exact),
            of_whole(|whole| whole.read_bytes),
            of_whole(|whole| whole.written_bytes),
        ]
    }
}

/// The most bytes that a report may have.
const REPORT_BYTES: u64 = 64 << 20;

/// A report; its command is that of the last run in it.
pub(super) fn read(path: &Path) -> Result<Earlier, Failure> {
    let fail = |what: String| Failure::new(format!("{}{what}", path.shown()));
    let text = named::read_text(path, REPORT_BYTES).map_err(|error| fail(format!(": {error}")))?;
    let (mut runs, mut command) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let document: Document = serde_json::from_str(line).map_err(|error| {
            fail(format!(":{number}:{}: no report that whit run --json --output wrote", error.column()))
        })?;
        if document.document != "run" {
            return Err(fail(format!(":{number}: a document \"{}\", and not \"run\"", document.document)));
        }
        runs.push(document.figures());
        command = document.command;
    }
    if runs.is_empty() { Err(fail(": no run in it".to_owned())) } else { Ok(Earlier { command, runs }) }
}
