//! Checks as text and JSON.

use std::fmt::Write as _;

use checks::{CheckNotice, CheckStatus, Downtime, Finding, RunCost, State};
use facts::unit::Nanos;
use formats::plugin_output::read_data;
use notify::Delivery;
use serde_json::{Value, json};
use text::printable::Shown as _;
use text::table::{Align, Table};
use text::units::Span;

use crate::delivery;
use command::time_zone::written_ms as time;

/// The end of a downtime that lasts for longer, fifty years, is not shown.
const NOTABLE_MS: i64 = 50 * 366 * 86_400_000;
/// Rows of `slow`.
const MAX_SLOW: usize = 40;

fn nanoseconds(at_ms: i64) -> i64 {
    at_ms.saturating_mul(1_000_000)
}

fn state(status: &CheckStatus) -> &'static str {
    status.state.map_or("PENDING", State::name)
}

/// Remarks on its state.
fn remarks(status: &CheckStatus) -> String {
    let mut remarks = Vec::new();
    if status.is_problem() && !status.is_hard {
        remarks.push(format!("attempt {}", status.attempt));
    }
    for (is_so, text) in [
        (status.flapping.is_flapping(), "flapping"),
        (status.acknowledgement.is_some(), "acknowledged"),
        (status.is_stale, "stale"),
    ] {
        if is_so {
            remarks.push(text.to_owned());
        }
    }
    remarks.join(", ")
}

/// How many there are of each state.
pub(super) fn summary(statuses: &[&CheckStatus]) -> String {
    let count = |wanted: Option<State>| statuses.iter().filter(|one| one.state == wanted).count();
    let checks = if statuses.len() == 1 { "check" } else { "checks" };
    let mut parts = vec![format!("{} {checks}", statuses.len())];
    for (state, name) in [
        (Some(State::Critical), "critical"),
        (Some(State::Unknown), "unknown"),
        (Some(State::Warning), "warning"),
        (Some(State::Ok), "ok"),
        (None, "pending"),
    ] {
        let count = count(state);
        if count > 0 {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.join(", ")
}

pub(super) fn list(
    statuses: &[&CheckStatus],
    summary: &str,
    downtimes: &[(i64, Downtime)],
    deliveries: &[(i64, Delivery<CheckNotice>)],
    now_ms: i64,
) -> String {
    let mut text = String::new();
    if !statuses.is_empty() {
        let columns = ["STATE", "SINCE", "CHECK", "", ""].map(|name| (name, Align::Left));
        let mut table = Table::new(&columns);
        for status in statuses {
            let since = status.state.map(|_| time(status.since_ms)).unwrap_or_default();
            table.cell(|cell| cell.push_str(state(status)));
            table.cell(|cell| cell.push_str(&since));
            table.cell(|cell| cell.push_str(&status.name.shown().to_string()));
            table.cell(|cell| cell.push_str(&remarks(status)));
            table.cell(|cell| cell.push_str(&status.text.shown().to_string()));
        }
        table.write(&mut text);
    }
    let _ = writeln!(text, "{summary}");
    for (number, downtime) in downtimes.iter().filter(|(_, downtime)| downtime.until_ms > now_ms) {
        let comment = if downtime.comment.is_empty() { "" } else { ": " };
        let _ = writeln!(
            text,
            "downtime {number} of {} {}{comment}{}",
            downtime.pattern.shown(),
            when(downtime, now_ms),
            downtime.comment.shown()
        );
    }
    let all = deliveries.iter().map(|(_, delivery)| delivery);
    delivery::push_lines(all, |notice| format!("{} of {}", notice.kind.name(), notice.name()), &mut text);
    text
}

/// The beginning of a downtime if that is to come, and its end.
pub(super) fn when(downtime: &Downtime, now_ms: i64) -> String {
    let begins = match downtime.since_ms > now_ms {
        true => format!("from {} ", time(downtime.since_ms)),
        false => String::new(),
    };
    format!("{begins}until {}", until(downtime))
}

/// The end of a downtime, and its times of the week.
pub(super) fn until(downtime: &Downtime) -> String {
    let end = if downtime.until_ms - downtime.since_ms > NOTABLE_MS {
        "it is ended".to_owned()
    } else {
        time(downtime.until_ms)
    };
    match downtime.every.as_str() {
        "" => end,
        every => format!("{end}, only {}", every.shown()),
    }
}

pub(super) fn downtime_json((number, downtime): &(i64, Downtime)) -> Value {
    json!({
        "number": number,
        "pattern": downtime.pattern,
        "since_realtime_ns": nanoseconds(downtime.since_ms),
        "until_realtime_ns": nanoseconds(downtime.until_ms),
        "every": downtime.every,
        "author": downtime.author,
        "comment": downtime.comment,
    })
}

pub(super) fn delivery_json(delivery: &Delivery<CheckNotice>) -> Value {
    let notice = &delivery.subject;
    delivery::json(delivery, json!({ "check": notice.name(), "kind": notice.kind.name() }))
}

/// One check, with all that is known of it.
pub(super) fn show(status: &CheckStatus) -> String {
    let mut text = format!("{} {}", status.name.shown(), state(status));
    let remarks = remarks(status);
    if !remarks.is_empty() {
        let _ = write!(text, " ({remarks})");
    }
    text.push('\n');
    if status.state.is_some() {
        let _ = writeln!(text, "{}", status.text.shown());
        for line in status.long_text.lines() {
            let _ = writeln!(text, "  {}", line.shown());
        }
        let _ = writeln!(text, "since {}, last result {}", time(status.since_ms), time(status.result_ms));
    }
    if let Some(known) = &status.acknowledgement {
        let _ = writeln!(
            text,
            "acknowledged by {} at {}: {}",
            known.author.shown(),
            time(known.at_ms),
            known.comment.shown()
        );
    }
    if let Some(last) = status.last_notification {
        let _ = writeln!(
            text,
            "notifications of {}: {}, last at {}",
            last.state.name(),
            last.times,
            time(last.at_ms)
        );
    }
    push_figures(&status.figures, &mut text);
    if status.cost.runs > 0 {
        let _ = writeln!(text, "last run: {}", cost_text(&status.cost.last));
    }
    text
}

/// Performance data as it was written, and what of it cannot be read.
fn push_figures(figures: &str, text: &mut String) {
    if !figures.is_empty() {
        let _ = writeln!(text, "figures: {}", figures.shown());
        for fault in read_data(figures).1 {
            let _ = writeln!(text, "  left out: {}", fault.shown());
        }
    }
}

/// `took 12 ms, 3 ms on a CPU, 1 ms waiting for one`.
fn cost_text(cost: &RunCost) -> String {
    let span = |nanos: u64| Span(Nanos(nanos)).to_string();
    let mut text = format!("took {}", span(cost.wall_ns));
    // A native check has no process, whose CPU time would be known.
    if cost.spawn_ns > 0 {
        let _ = write!(text, ", {} on a CPU", span(cost.cpu_ns));
    }
    for (wait, what) in [(cost.run_queue_ns, "a CPU"), (cost.blkio_ns, "disks"), (cost.memory_ns, "memory")] {
        if let Some(wait) = wait.filter(|wait| *wait > 0) {
            let _ = write!(text, ", waited {} for {what}", span(wait));
        }
    }
    text
}

/// The plugins that cost most.
pub(super) fn slow(statuses: &[CheckStatus]) -> String {
    let mut text = String::new();
    let mut table = Table::new(&[
        ("RUNS", Align::Right),
        ("CPU/RUN", Align::Right),
        ("TIME/RUN", Align::Right),
        ("CPU", Align::Right),
        ("WAIT CPU", Align::Right),
        ("WAIT DISK", Align::Right),
        ("WAIT MEM", Align::Right),
        ("START", Align::Right),
        ("CHECK", Align::Left),
    ]);
    for status in statuses.iter().take(MAX_SLOW) {
        let (runs, sum) = (status.cost.runs, &status.cost.sum);
        let span = |nanos: u64| Span(Nanos(nanos)).to_string();
        let known = |nanos: Option<u64>| nanos.map_or("–".to_owned(), span);
        table.row([
            runs.to_string(),
            span(sum.cpu_ns / runs.max(1)),
            span(sum.wall_ns / runs.max(1)),
            span(sum.cpu_ns),
            known(sum.run_queue_ns),
            known(sum.blkio_ns),
            known(sum.memory_ns),
            span(sum.spawn_ns / runs.max(1)),
            status.name.shown().to_string(),
        ]);
    }
    table.write(&mut text);
    if statuses.len() > MAX_SLOW {
        let _ = writeln!(text, "and {} more: --json has all", statuses.len() - MAX_SLOW);
    }
    text
}

/// The result of one run.
pub(super) fn tried(finding: &Finding, cost: &RunCost) -> String {
    let mut text = format!("{}: {}\n", finding.state.name(), finding.text.shown());
    for line in finding.long_text.lines() {
        let _ = writeln!(text, "  {}", line.shown());
    }
    push_figures(&finding.figures, &mut text);
    let _ = writeln!(text, "{}", cost_text(cost));
    text
}

fn cost_json(cost: &RunCost) -> Value {
    json!({
        "wall_ns": cost.wall_ns,
        "spawn_ns": cost.spawn_ns,
        "cpu_ns": cost.cpu_ns,
        "run_queue_delay_ns": cost.run_queue_ns,
        "blkio_delay_ns": cost.blkio_ns,
        "memory_delay_ns": cost.memory_ns,
    })
}

/// A check as JSON.
pub(super) fn json(status: &CheckStatus) -> Value {
    let known = status.state.is_some();
    let acknowledgement = status.acknowledgement.as_ref().map(|known| {
        json!({
            "author": known.author,
            "comment": known.comment,
            "since_realtime_ns": nanoseconds(known.at_ms),
            "is_sticky": known.is_sticky,
        })
    });
    json!({
        "name": status.name,
        "state": status.state.map(State::name),
        "is_hard": status.is_hard,
        "attempt": status.attempt,
        "since_realtime_ns": known.then(|| nanoseconds(status.since_ms)),
        "result_realtime_ns": known.then(|| nanoseconds(status.result_ms)),
        "text": status.text,
        "long_text": status.long_text,
        "figures": status.figures,
        "is_passive": status.is_passive,
        "is_stale": status.is_stale,
        "is_flapping": status.flapping.is_flapping(),
        "acknowledgement": acknowledgement,
        "runs": status.cost.runs,
        "last_run": (status.cost.runs > 0).then(|| cost_json(&status.cost.last)),
        "all_runs": cost_json(&status.cost.sum),
    })
}
