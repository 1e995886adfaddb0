//! How far the receivers of remote write are.

use std::fmt::Write as _;
use std::path::Path;

use facts::unit::{Bytes, Nanos};
use remote_write::Progress;
use serde_json::json;
use store::{History, StoreError};
use text::printable::Shown as _;
use text::table::{Align, Table};
use text::units::{Grouped, Size, Span};

use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;

/// Writes how far each receiver is behind the last tick, and what happened on the way.
pub(super) fn show(
    directory: &Path,
    history: &History,
    is_json: bool,
    failed: &impl Fn(StoreError) -> Failure,
) -> Result<(), Failure> {
    let receivers = Progress::read_all(directory).map_err(|error| Failure::new(error.to_string()))?;
    let last_ns = history.extent().map_err(failed)?.realtime_ns.map(|(_, last_ns)| last_ns);
    let mut text = String::new();
    if is_json {
        for receiver in &receivers {
            push_json(receiver, last_ns, &mut text)?;
        }
    } else {
        text = words(&receivers, last_ns);
    }
    Output::stdout().write(text.as_bytes())
}

fn words(receivers: &[Progress], last_ns: Option<i64>) -> String {
    if receivers.is_empty() {
        return "nothing was sent yet: [[remote_write]] in the agent's configuration names receivers\n"
            .to_owned();
    }
    let columns = ["BEHIND", "TAKEN", "REFUSED", "SENT", "FAILURES"].map(|heading| (heading, Align::Right));
    let mut table = Table::new(&[&[("RECEIVER", Align::Left)][..], &columns, &[("", Align::Left)]].concat());
    for receiver in receivers {
        let behind = last_ns.and_then(|last_ns| receiver.behind_ns(last_ns));
        let behind = behind.map_or_else(|| "–".to_owned(), |behind_ns| Span(Nanos(behind_ns)).to_string());
        table.row([
            receiver.name.clone(),
            behind,
            Grouped(receiver.taken_count).to_string(),
            Grouped(receiver.refused_count).to_string(),
            Size(Bytes(receiver.sent_bytes)).to_string(),
            Grouped(receiver.failures_count).to_string(),
            receiver.url.shown().to_string(),
        ]);
    }
    let mut text = String::new();
    table.write(&mut text);
    for receiver in receivers {
        let name = &receiver.name;
        if let Some(trouble) = &receiver.trouble {
            let _ = writeln!(text, "{name}: {}", trouble.shown());
        }
        if receiver.missed_ns > 0 {
            let missed = Span(Nanos(receiver.missed_ns));
            let _ = writeln!(text, "{name}: {missed} were deleted before they could be sent: [history] keep");
        }
        if receiver.damaged_count > 0 {
            let _ = writeln!(
                text,
                "{name}: {} parts of the history are damaged and were left out",
                receiver.damaged_count
            );
        }
        if let Some(failure) = &receiver.rule_failure {
            let count = Grouped(receiver.rule_failures_count);
            let _ = writeln!(
                text,
                "{name}: {count} evaluations of rules without an answer, at last {}",
                failure.shown()
            );
        }
        for refused in &receiver.refused {
            let (series, message) = (refused.series.shown(), refused.message.shown());
            let _ =
                writeln!(text, "{name} refuses {} samples of {series}: {message}", Grouped(refused.count));
        }
    }
    text
}

fn push_json(receiver: &Progress, last_ns: Option<i64>, text: &mut String) -> Result<(), Failure> {
    let refused = receiver.refused.iter().map(|refused| {
        json!({ "series": refused.series, "refused_count": refused.count, "message": refused.message })
    });
    let behind_ns = last_ns.and_then(|last_ns| receiver.behind_ns(last_ns));
    let body = json!({
        "name": receiver.name,
        "url": receiver.url,
        "version": receiver.version,
        "behind_ns": behind_ns,
        "place_ns": receiver.place_ns,
        "checks_place_ns": receiver.checks_place_ns,
        "rules_place_ns": receiver.rules_place_ns,
        "exporters_place_ns": receiver.exporters_place_ns,
        "rule_failures_count": receiver.rule_failures_count,
        "rule_failure": receiver.rule_failure,
        "clock_ahead_ns": receiver.clock_ahead_s.map(|ahead_s| (ahead_s * 1e9) as i64),
        "taken_count": receiver.taken_count,
        "refused_count": receiver.refused_count,
        "requests_count": receiver.requests_count,
        "sent_bytes": receiver.sent_bytes,
        "failures_count": receiver.failures_count,
        "damaged_count": receiver.damaged_count,
        "missed_ns": receiver.missed_ns,
        "trouble": receiver.trouble,
        "refused": refused.collect::<Vec<_>>(),
    });
    Documents::of_live().push(DocumentKind::HistoryReceiver, probe::clock_now().realtime, &body, text)
}
