//! What a sink took and a sender sent.

use facts::task::TaskAccount;
use facts::unit::{Bytes, Nanos};
use serde_json::{Value, json};

use crate::traffic::send::sent::Sent;
use crate::traffic::sink::accounts::{Account, Accounts, Answered};
use crate::traffic::waits;
use text::units::{Size, Span, push_decimals};

/// Clients that are named one by one.
const NAMED_CLIENTS: usize = 20;

/// Appends a glance: packets so far, and those of the last second.
pub(crate) fn push_live(out: &mut String, packets: u64, fresh: u64, fresh_bytes: u64) {
    out.push_str(&format!("{packets} packets, {fresh} packets/s, {}/s\x1b[K", Size(Bytes(fresh_bytes))));
}

/// Packets a second over a span; none over none.
fn rate(packets: u64, span: Nanos) -> Option<f64> {
    (span.0 > 0).then(|| packets as f64 * 1e9 / span.0 as f64)
}

fn rate_words(packets: u64, bytes: u64, span: Nanos) -> String {
    let Some(rate) = rate(packets, span) else { return text::ABSENT.to_owned() };
    let mut text = String::new();
    push_decimals(&mut text, rate, 0);
    let a_second = Bytes((bytes as f64 * 1e9 / span.0 as f64) as u64);
    format!("{text} packets/s, {}/s", Size(a_second))
}

fn span(first: Option<Nanos>, last: Option<Nanos>) -> Nanos {
    first.zip(last).map_or(Nanos(0), |(first, last)| last.saturating_sub(first))
}

/// What a sink took.
pub(crate) struct SinkReport {
    accounts: Accounts,
    dropped: u64,
    waits: Option<TaskAccount>,
}

impl SinkReport {
    pub(crate) fn new(accounts: Accounts, dropped: u64, waits: Option<&TaskAccount>) -> Self {
        Self { accounts, dropped, waits: waits.cloned() }
    }

    pub(crate) fn text(&self) -> String {
        let Accounts { listed, all, clients } = &self.accounts;
        let wall = span(all.first, all.last);
        let mut text = String::new();
        if *clients > 1 {
            for client in listed.iter().take(NAMED_CLIENTS) {
                let wall = span(client.first, client.last);
                let aborted = if client.is_aborted { ", aborted" } else { "" };
                text.push_str(&format!(
                    "{}: {} packets in {}, {}{}{aborted}\n",
                    client.name,
                    client.packets,
                    Span(wall),
                    rate_words(client.packets, client.bytes, wall),
                    incomplete(client)
                ));
            }
            let more = clients.saturating_sub(NAMED_CLIENTS as u64);
            if more > 0 {
                text.push_str(&format!("and {more} more clients\n"));
            }
        }
        text.push_str(&format!("total time   {}\n", Span(wall)));
        text.push_str(&format!("packets      {}{}\n", all.packets, incomplete(all)));
        text.push_str(&format!("rate         {}\n", rate_words(all.packets, all.bytes, wall)));
        text.push_str(&format!("clients      {clients}\n"));
        if let Some(Answered { answers, faults }) = all.answers {
            text.push_str(&format!("answers      {answers}, {faults} of them faulty\n"));
        }
        if self.dropped > 0 {
            text.push_str(&format!("dropped      {} for which the kernel had no room\n", self.dropped));
        }
        if let Some(waits) = &self.waits {
            text.push_str(&format!("whit         {}\n", waits::words(waits)));
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let Accounts { listed, all, clients } = &self.accounts;
        let each = listed.iter().map(|client| {
            let mut document = account(client);
            document["address"] = json!(client.name);
            document["is_aborted"] = json!(client.is_aborted);
            document
        });
        let mut document = account(all);
        document["answers"] = json!(all.answers.map(|answered| answered.answers));
        document["faults"] = json!(all.answers.map(|answered| answered.faults));
        document["dropped_packets"] = json!(self.dropped);
        document["whit"] = self.waits.as_ref().map_or(Value::Null, breakdown);
        // Only the first of very many are reported.
        document["omitted_clients"] = json!(clients - listed.len() as u64);
        document["clients"] = each.collect();
        document
    }
}

fn incomplete(account: &Account) -> String {
    match account.incomplete_packets {
        0 => String::new(),
        packets => format!(" and {packets} incomplete ({})", Size(Bytes(account.incomplete_bytes))),
    }
}

fn account(account: &Account) -> Value {
    let wall = span(account.first, account.last);
    json!({
        "wall_ns": wall.0,
        "packets": account.packets,
        "bytes": account.bytes,
        "incomplete_packets": account.incomplete_packets,
        "incomplete_bytes": account.incomplete_bytes,
        "packets_per_second": rate(account.packets, wall),
    })
}

fn breakdown(task: &TaskAccount) -> Value {
    let breakdown = task.sum.breakdown();
    let ns = |part: Option<Nanos>| part.map(|part| part.0);
    json!({
        "on_cpu_ns": ns(breakdown.on_cpu),
        "run_queue_ns": ns(breakdown.run_queue),
        "block_io_ns": ns(breakdown.block_io),
        "sleeping_ns": ns(breakdown.sleeping),
    })
}

/// What a sender sent.
pub(crate) struct SendReport {
    sent: Sent,
    size: u64,
    waits: Option<TaskAccount>,
}

/// Of a hundred.
const PERCENTILES: [(f64, &str, &str); 4] =
    [(50.0, "p50", "p50_ns"), (90.0, "p90", "p90_ns"), (99.0, "p99", "p99_ns"), (99.9, "p99.9", "p99_9_ns")];

impl SendReport {
    pub(crate) fn new(sent: Sent, size: u64, waits: Option<&TaskAccount>) -> Self {
        Self { sent, size, waits: waits.cloned() }
    }

    pub(crate) fn text(&self) -> String {
        let sent = &self.sent;
        let wall = span(sent.first, sent.last);
        let rest = sent.bytes - sent.packets * self.size;
        let mut text = format!("total time   {}\npackets      {}", Span(wall), sent.packets);
        if rest > 0 {
            text.push_str(&format!(", and {} of incomplete ones", Size(Bytes(rest))));
        }
        text.push_str(&format!("\nrate         {}\n", rate_words(sent.packets, sent.bytes, wall)));
        text.push_str(&format!("connections  {}\n", sent.connections));
        if !sent.latency_ns.is_empty() {
            text.push_str("latency     ");
            for (percentile, name, _) in PERCENTILES {
                let value = Nanos(sent.latency_ns.value_at_percentile(percentile));
                text.push_str(&format!(" {name} {},", Span(value)));
            }
            text.push_str(&format!(" longest {}\n", Span(Nanos(sent.latency_ns.max()))));
        }
        if let Some(waits) = &self.waits {
            text.push_str(&format!("whit         {}\n", waits::words(waits)));
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let sent = &self.sent;
        let wall = span(sent.first, sent.last);
        let latency = (!sent.latency_ns.is_empty()).then(|| {
            let mut latency = json!({ "count": sent.latency_ns.len(), "max_ns": sent.latency_ns.max() });
            for (percentile, _, field) in PERCENTILES {
                latency[field] = json!(sent.latency_ns.value_at_percentile(percentile));
            }
            latency
        });
        json!({
            "wall_ns": wall.0,
            "packets": sent.packets,
            "bytes": sent.bytes,
            "packets_per_second": rate(sent.packets, wall),
            "connections": sent.connections,
            "failed_connections": sent.failed,
            "failure": sent.failure,
            "latency": latency,
            "whit": self.waits.as_ref().map_or(Value::Null, breakdown),
        })
    }
}
