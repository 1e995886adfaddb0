//! What came of exporters and of files with metrics.

use std::fmt::Write as _;
use std::path::Path;

use exporters::TargetStatus;
use facts::unit::Nanos;
use serde_json::json;
use text::printable::Shown as _;
use text::table::{Align, Table};
use text::units::{Grouped, Span};

use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;

/// Writes what each target had when it was read last, and what is wrong.
pub(super) fn show(directory: &Path, is_json: bool) -> Result<(), Failure> {
    let targets = TargetStatus::read_all(directory)
        .map_err(|error| Failure::new(format!("{}: {error}", TargetStatus::path(directory).shown())))?;
    let now = probe::clock_now().realtime;
    let mut text = String::new();
    if is_json {
        for target in &targets {
            push_json(target, now, &mut text)?;
        }
    } else {
        text = words(&targets, now);
    }
    Output::stdout().write(text.as_bytes())
}

fn words(targets: &[TargetStatus], now: Nanos) -> String {
    if targets.is_empty() {
        return "nothing is read: [[scrape]] and [textfile] in the agent's configuration name exporters and files\n"
            .to_owned();
    }
    let columns = ["READ", "SAMPLES", "TOOK", "FAILURES"].map(|heading| (heading, Align::Right));
    let mut table = Table::new(&[&[("EXPORTER", Align::Left)][..], &columns, &[("", Align::Left)]].concat());
    for target in targets {
        let known = |text: String| if target.read_ns.is_some() { text } else { "–".to_owned() };
        let ago_ns = now.0.saturating_sub(target.read_ns.unwrap_or_default().cast_unsigned());
        table.row([
            target.name.clone(),
            known(format!("{} ago", Span(Nanos(ago_ns)))),
            known(Grouped(target.samples_count).to_string()),
            known(Span(Nanos(target.took_ns)).to_string()),
            Grouped(target.failures_count).to_string(),
            target.place.shown().to_string(),
        ]);
    }
    let mut text = String::new();
    table.write(&mut text);
    for target in targets {
        if let Some(fault) = &target.fault {
            let _ = writeln!(text, "{}: {}", target.name, fault.shown());
        }
    }
    text
}

fn push_json(target: &TargetStatus, now: Nanos, text: &mut String) -> Result<(), Failure> {
    let is_read = target.read_ns.is_some();
    let body = json!({
        "name": target.name,
        "place": target.place,
        "read_ns": target.read_ns,
        "took_ns": is_read.then_some(target.took_ns),
        "samples_count": is_read.then_some(target.samples_count),
        "failures_count": target.failures_count,
        "fault": target.fault,
    });
    Documents::of_live().push(DocumentKind::HistoryExporter, now, &body, text)
}
