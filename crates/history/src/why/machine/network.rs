//! The network.

#[cfg(test)]
mod tests;

use query::QueryError;

use super::cpu::waits;
use super::words::{count, percent};
use crate::why::examiner::{Examiner, Share};
use crate::why::finding::{Cost, Found, sentence};
use crate::why::matchers::quoted;
use crate::why::sentence::{Evidence, Trouble};

/// Fewer packets in each second are no trouble.
const MANY: f64 = 20_000.0;
/// So few in the whole window are an accident.
const FEW: f64 = 5.0;
/// Fewer attempts to connect in each second that find a queue full are no trouble. Their clients try again after a second.
const MIN_OVERFLOWS: f64 = 0.05;
/// Fewer datagrams that are lost in each second are none.
const MIN_DATAGRAMS: f64 = 1.0;
/// Fewer segments in each second that are sent again, and a smaller part of them, are none: some are lost on every way.
const MIN_SENT_AGAIN: f64 = 5.0;
const MIN_PART_SENT_AGAIN: f64 = 0.03;
/// Fewer segments that begin connections and are sent again are none.
const MIN_ATTEMPTS: f64 = 1.0;
/// The shortest time after which TCP takes a segment for lost if nothing comes back: `TCP_RTO_MIN`.
const MIN_TIMEOUT_S: f64 = 0.2;

/// Many packets.
pub(super) fn packets(examiner: &Examiner<'_>) -> Found {
    // A packet that goes through a bridge or a tunnel is counted by each device on its way.
    let device = examiner.first("topk(1, rate(node_network_receive_packets_total[W]))")?;
    let Some(device) = device.filter(|device| device.value > MANY) else { return Ok(None) };
    let name = device.name.get("device");
    let packets = format!("sum(rate(node_network_receive_packets_total{{device={}}}[W]))", quoted(name));
    let kernel = examiner.who(&["rate(whit_task_system_seconds_total[W])"])?;
    let who = kernel.as_ref().map_or(String::new(), |share| {
        format!("; {} spent most time in the kernel, {}", share.label(), percent(share.value))
    });
    let before = examiner.compared(&packets, "")?;
    let text = format!("{} packets came in each second at {name}{before}{who}.", count(device.value));
    let culprit = kernel.as_ref().and_then(Share::culprit);
    let cost = Cost::of([waits_by_kernel(examiner)?]);
    let evidence = [device.evidence].into_iter().chain(kernel.map(|share| share.evidence));
    Ok(Some(sentence(Trouble::Network, cost, text, culprit, evidence)))
}

/// The part of the waits for CPUs that the kernel's own work can cause.
fn waits_by_kernel(examiner: &Examiner<'_>) -> Result<Option<Evidence>, QueryError> {
    let Some(waits) = waits(examiner)? else { return Ok(None) };
    let part = examiner.number(
        "sum(rate(node_cpu_seconds_total{mode=~\"system|irq|softirq\"}[W])) / \
         sum(rate(node_cpu_seconds_total{mode!~\"idle|iowait|steal\"}[W]))",
    )?;
    Ok(part.map(|part| Evidence { value: waits.waited.value * part.value, ..part }))
}

/// Attempts to connect that found the queue of a listening program full.
pub(super) fn connections(examiner: &Examiner<'_>) -> Found {
    let overflows = "rate(node_netstat_TcpExt_ListenOverflows[W])";
    let is_trouble = |rate: &Evidence| rate.value > MIN_OVERFLOWS && are_many(examiner, rate.value);
    let Some(rate) = examiner.number(overflows)?.filter(is_trouble) else { return Ok(None) };
    let before = examiner.compared(overflows, "")?;
    let text = format!(
        "{} attempts to connect in each second{before} found the queue of a listening program full: their clients try again after a second or more.",
        few(rate.value)
    );
    Ok(Some(sentence(Trouble::Connections, Cost::Within(rate.value), text, None, [rate])))
}

/// Datagrams that arrived, and were lost since their program did not read them soon enough.
pub(super) fn datagrams(examiner: &Examiner<'_>) -> Found {
    let lost = ["Udp", "Udp6"].map(|udp| format!("rate(node_netstat_{udp}_RcvbufErrors[W])"));
    let mut evidence = Vec::new();
    for rate in &lost {
        evidence.extend(examiner.number(rate)?.filter(|rate| rate.value > 0.0));
    }
    let all: f64 = evidence.iter().map(|rate| rate.value).sum();
    if all < MIN_DATAGRAMS || !are_many(examiner, all) {
        return Ok(None);
    }
    let text = format!(
        "{} datagrams in each second were lost: the buffer of a socket was full, since its program did not read.",
        few(all)
    );
    // No task waits for a datagram that is lost: what makes tasks wait comes first.
    Ok(Some(sentence(Trouble::Datagrams, Cost::Within(0.0), text, None, evidence)))
}

/// Segments of TCP that were sent again.
pub(super) fn retransmissions(examiner: &Examiner<'_>) -> Found {
    let rate = |counter: &str| examiner.number(&format!("rate(node_netstat_{counter}[W])"));
    let is_trouble = |all: &Evidence| all.value > MIN_ATTEMPTS && are_many(examiner, all.value);
    let Some(all) = rate("Tcp_RetransSegs")?.filter(is_trouble) else { return Ok(None) };
    let attempts = rate("TcpExt_TCPSynRetrans")?;
    let overflows = rate("TcpExt_ListenOverflows")?.map_or(0.0, |rate| rate.value);
    let of_attempts = attempts.as_ref().map_or(0.0, |attempts| attempts.value);
    let of_data = all.value - of_attempts;
    let part = rate("Tcp_OutSegs")?.map(|sent| of_data / (sent.value + of_data));
    let timeouts = rate("TcpExt_TCPTimeouts")?;
    let cost = Cost::Within(timeouts.as_ref().map_or(0.0, |timeouts| timeouts.value) * MIN_TIMEOUT_S);
    let text = match part.filter(|part| of_data > MIN_SENT_AGAIN && *part > MIN_PART_SENT_AGAIN) {
        Some(part) => format!(
            "{} of the segments that TCP sent were sent again, {} in each second: on a way packets are lost or held up.",
            percent(part),
            few(of_data)
        ),
        // A full queue here makes clients here try again, which is said already. Whether this machine begins them or answers is not known:
        // the kernel counts both as one.
        None if of_attempts > MIN_ATTEMPTS && overflows < of_attempts / 2.0 => {
            format!(
                "{} attempts to begin a connection, or answers to such, were sent again in each second: nothing came back.",
                few(of_attempts)
            )
        }
        None => return Ok(None),
    };
    let evidence = [all].into_iter().chain(attempts).chain(timeouts);
    Ok(Some(sentence(Trouble::Retransmissions, cost, text, None, evidence)))
}

/// Returns whether a rate of events is more than a few in the window.
fn are_many(examiner: &Examiner<'_>, rate: f64) -> bool {
    rate * (examiner.window.to_ms - examiner.window.from_ms) as f64 / 1e3 > FEW
}

/// A number of events that may be less than one.
fn few(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { count(value) }
}
