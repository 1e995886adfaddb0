//! Reports of what a sink took and a sender sent.

use facts::task::TaskAccount;
use facts::unit::{Bytes, Nanos};
use serde_json::{Value, json};

use crate::send::condition::Condition;
use crate::send::connection::Answer;
use crate::send::options::SendOptions;
use crate::send::sent::{PERCENTILES, Sent};
use crate::sink::accounts::{Account, Accounts, Answered};
use crate::waits;
use text::units::{Grouped, Size, Span, push_human};

/// A rate is reached from this part of it on: the last of few packets has no time after it.
const REACHED: f64 = 0.9;
/// A thread that is on a CPU for this part of the time does not wait.
const BUSY: f64 = 0.85;
/// Clients that are named one by one.
const NAMED_CLIENTS: usize = 20;

/// Appends a glance: packets so far, and those of the last second.
pub(crate) fn push_live(out: &mut String, packets: u64, fresh: u64, fresh_bytes: u64) {
    out.push_str(&format!(
        "{} packets, {} packets/s, {}/s\x1b[K",
        Grouped(packets),
        Grouped(fresh),
        Size(Bytes(fresh_bytes))
    ));
}

/// Packets a second over a span; none over none.
fn rate(packets: u64, span: Nanos) -> Option<f64> {
    (span.0 > 0).then(|| packets as f64 * 1e9 / span.0 as f64)
}

/// Describes the rate of so many packets or requests, and their bytes.
fn rate_words(count: u64, noun: &str, bytes: u64, span: Nanos) -> String {
    let Some(rate) = rate(count, span) else { return text::ABSENT.to_owned() };
    let a_second = bytes as f64 * 1e9 / span.0 as f64;
    let mut bits = String::new();
    push_human(&mut bits, a_second * 8.0, 1000.0, &["", " k", " M", " G", " T"]);
    let gap = if bits.ends_with(|last: char| last.is_ascii_digit()) { " " } else { "" };
    let size = Size(Bytes(a_second as u64));
    format!("{} {noun}s/s, {size}/s, {bits}{gap}bit/s", rate_figure(rate))
}

/// A rate; below ten with decimals, so that what happens every few seconds is not 0.
fn rate_figure(rate: f64) -> String {
    if rate >= 9.995 {
        return Grouped((rate + 0.5) as u64).to_string();
    }
    format!("{rate:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn span(first: Option<Nanos>, last: Option<Nanos>) -> Nanos {
    first.zip(last).map_or(Nanos(0), |(first, last)| last.saturating_sub(first))
}

/// The report of a sink.
pub(crate) struct SinkReport {
    accounts: Accounts,
    dropped: u64,
    waits: Option<TaskAccount>,
    /// Requests are counted, and packets mean nothing.
    has_requests: bool,
}

impl SinkReport {
    pub(crate) fn new(
        accounts: Accounts,
        dropped: u64,
        waits: Option<&TaskAccount>,
        has_requests: bool,
    ) -> Self {
        Self { accounts, dropped, waits: waits.cloned(), has_requests }
    }

    /// How many packets or requests, and what one is called.
    fn count(&self, account: &Account) -> (u64, &'static str) {
        match account.answers.filter(|_| self.has_requests) {
            Some(answered) => (answered.answers, "request"),
            None => (account.packets, "packet"),
        }
    }

    pub(crate) fn text(&self) -> String {
        let Accounts { listed, all, clients } = &self.accounts;
        let wall = span(all.first, all.last);
        let mut text = String::new();
        // Connections of HTTP clients are many, and tell little apart: the document has them.
        if *clients > 1 && !self.has_requests {
            for client in listed.iter().take(NAMED_CLIENTS) {
                let wall = span(client.first, client.last);
                let aborted = if client.is_aborted { ", aborted" } else { "" };
                let plural = if client.packets == 1 { "" } else { "s" };
                text.push_str(&format!(
                    "{}: {} packet{plural} in {}, {}{}{aborted}\n",
                    client.name,
                    Grouped(client.packets),
                    Span(wall),
                    rate_words(client.packets, "packet", client.bytes, wall),
                    incomplete(client),
                ));
            }
            let more = clients.saturating_sub(NAMED_CLIENTS as u64);
            if more > 0 {
                let clients = if more == 1 { "client" } else { "clients" };
                text.push_str(&format!("and {} more {clients}\n", Grouped(more)));
            }
        }
        text.push_str(&format!("total time   {}\n", Span(wall)));
        let (count, noun) = self.count(all);
        let what = format!("{noun}s");
        let rest = if self.has_requests { String::new() } else { incomplete(all) };
        text.push_str(&format!("{what:<12} {}{rest}\n", Grouped(count)));
        text.push_str(&format!("rate         {}\n", rate_words(count, noun, all.bytes, wall)));
        text.push_str(&format!("clients      {}\n", Grouped(*clients)));
        if let Some(Answered { answers, faults }) =
            all.answers.filter(|answered| !self.has_requests || answered.faults > 0)
        {
            text.push_str(&format!(
                "answers      {}, {} of them faulty\n",
                Grouped(answers),
                Grouped(faults)
            ));
        }
        if self.dropped > 0 {
            text.push_str(&format!(
                "dropped      {} for which the kernel had no room\n",
                Grouped(self.dropped)
            ));
        }
        if let Some(waits) = &self.waits {
            text.push_str(&format!("whit         {}\n", waits::words(waits)));
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let Accounts { listed, all, clients } = &self.accounts;
        let each = listed.iter().map(|client| {
            let mut document = account(client, self.has_requests);
            document["address"] = json!(client.name);
            document["is_aborted"] = json!(client.is_aborted);
            document
        });
        let mut document = account(all, self.has_requests);
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
        packets => {
            format!(" and {} incomplete ({})", Grouped(packets), Size(Bytes(account.incomplete_bytes)))
        }
    }
}

/// Requests have no packets, and the other way round.
fn account(account: &Account, has_requests: bool) -> Value {
    let wall = span(account.first, account.last);
    let requests = account.answers.filter(|_| has_requests).map(|answered| answered.answers);
    let of_packets = |number: u64| (!has_requests).then_some(number);
    json!({
        "wall_ns": wall.0,
        "packets": of_packets(account.packets),
        "requests": requests,
        "bytes": account.bytes,
        "incomplete_packets": of_packets(account.incomplete_packets),
        "incomplete_bytes": of_packets(account.incomplete_bytes),
        "packets_per_second": of_packets(account.packets).and_then(|packets| rate(packets, wall)),
        "requests_per_second": requests.and_then(|requests| rate(requests, wall)),
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

/// The report of a sender.
pub(crate) struct SendReport {
    sent: Sent,
    size: u64,
    /// Requests were sent, and not packets.
    is_http: bool,
    /// The other side says something in return.
    has_answers: bool,
    waits: Option<TaskAccount>,
}

impl SendReport {
    pub(crate) fn new(sent: Sent, options: &SendOptions, waits: Option<&TaskAccount>) -> Self {
        let (size, is_http) = (options.size as u64, options.request.is_some());
        let has_answers = options.answer != Answer::None;
        Self { sent, size, is_http, has_answers, waits: waits.cloned() }
    }

    /// Packets that were taken, or requests that were answered.
    fn count(&self) -> u64 {
        if self.is_http { self.sent.answers() } else { self.sent.packets }
    }

    /// Returns the conditions that hold, each with its value.
    pub(crate) fn violations(&self, conditions: &[Condition]) -> Vec<String> {
        let rate = rate(self.count(), span(self.sent.first, self.sent.last));
        conditions.iter().filter_map(|condition| condition.violation(&self.sent, rate)).collect()
    }

    /// Says that so many a second were wanted, and why there were fewer; `None` if there were as many.
    pub(crate) fn shortfall(&self, wanted: f64) -> Option<String> {
        let rate = rate(self.count(), span(self.sent.first, self.sent.last))?;
        if rate >= wanted * REACHED {
            return None;
        }
        let on_cpu = self.waits.as_ref().and_then(|waits| waits.sum.breakdown().on_cpu);
        let wall = span(self.sent.first, self.sent.last);
        let is_busy = on_cpu.is_some_and(|on_cpu| on_cpu.0 as f64 > wall.0 as f64 * BUSY);
        let why = match (is_busy, self.has_answers) {
            (true, _) => "whit itself used a whole CPU: --workers 2 uses more",
            (false, true) => {
                "each connection waits for an answer before it sends on: --connections has more at once"
            }
            (false, false) => "the other side took no more",
        };
        let [wanted, rate] = [wanted, rate].map(rate_figure);
        Some(format!("{wanted} a second were wanted, and {rate} went out: {why}"))
    }

    pub(crate) fn text(&self) -> String {
        let (sent, count) = (&self.sent, self.count());
        // Nothing was reached: the failure has been said, and all figures are of nothing.
        if count == 0 && sent.failed == sent.connections && sent.failed > 0 {
            return String::new();
        }
        let wall = span(sent.first, sent.last);
        let noun = if self.is_http { "request" } else { "packet" };
        let what = format!("{noun}s");
        let mut text = format!("total time   {}\n{what:<12} {}", Span(wall), Grouped(count));
        let rest = sent.bytes - sent.packets * self.size;
        if rest > 0 && !self.is_http {
            text.push_str(&format!(", and {} of incomplete ones", Size(Bytes(rest))));
        }
        text.push_str(&format!("\nrate         {}\n", rate_words(count, noun, sent.bytes, wall)));
        text.push_str(&format!("connections  {}\n", Grouped(sent.connections)));
        if sent.failed_requests > 0 {
            text.push_str(&format!("failed       {}\n", Grouped(sent.failed_requests)));
        }
        if sent.unanswered > 0 {
            text.push_str(&format!("unanswered   {}\n", Grouped(sent.unanswered)));
        }
        if !sent.statuses.is_empty() {
            let statuses =
                sent.statuses.iter().map(|(status, count)| format!("{status} ×{}", Grouped(*count)));
            text.push_str(&format!("statuses     {}\n", statuses.collect::<Vec<_>>().join(", ")));
        }
        if !sent.latency_ns.is_empty() {
            // Without answers it is how late packets went out, and nothing of the other side.
            text.push_str(if self.has_answers { "latency     " } else { "behind plan " });
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
            "packets": (!self.is_http).then_some(sent.packets),
            "requests": self.is_http.then(|| sent.answers()),
            "bytes": sent.bytes,
            "packets_per_second": rate(sent.packets, wall).filter(|_| !self.is_http),
            "requests_per_second": rate(sent.answers(), wall).filter(|_| self.is_http),
            "connections": sent.connections,
            "failed_connections": sent.failed,
            "failed_requests": self.is_http.then_some(sent.failed_requests),
            "unanswered_requests": self.is_http.then_some(sent.unanswered),
            "unanswered_packets": (self.has_answers && !self.is_http).then_some(sent.unanswered),
            "failure": sent.failure,
            "statuses": self.is_http.then(|| {
                let one = |(status, count): (&u16, &u64)| json!({ "status": status, "count": count });
                sent.statuses.iter().map(one).collect::<Value>()
            }),
            "latency": latency,
            "whit": self.waits.as_ref().map_or(Value::Null, breakdown),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rates_are_not_zero() {
        let second = Nanos(1_000_000_000);
        assert!(rate_words(13, "request", 0, Nanos(50 * second.0)).starts_with("0.26 requests/s, "));
        let written = [0.0, 0.004, 2.5, 5.0, 9.994, 9.999, 70_000.4].map(rate_figure);
        assert_eq!(written, ["0", "0", "2.5", "5", "9.99", "10", "70,000"]);
    }
}
