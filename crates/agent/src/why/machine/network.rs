//! The network.

use super::finding::{Cost, Found, sentence};
use super::words::{count, percent};
use crate::why::examiner::{Examiner, Share};
use crate::why::sentence::Trouble;

/// Fewer packets in each second are no trouble.
const MANY: f64 = 20_000.0;

/// Many packets.
pub(super) fn packets(examiner: &Examiner<'_>) -> Found {
    let packets = "sum(rate(node_network_receive_packets_total[W]))";
    let Some(rate) = examiner.number(packets)?.filter(|rate| rate.value > MANY) else { return Ok(None) };
    let device = examiner.first("topk(1, rate(node_network_receive_packets_total[W]))")?;
    let at = device.as_ref().map_or(String::new(), |share| format!(" at {}", share.name.get("device")));
    let kernel = examiner.who(&["rate(whit_task_system_seconds_total[W])"])?;
    let who = kernel.as_ref().map_or(String::new(), |share| {
        format!("; {} spent most time in the kernel, {}", share.label(), percent(share.value))
    });
    let before = examiner.compared(packets, "")?;
    let text = format!("{} packets came in each second{at}{before}{who}.", count(rate.value));
    let culprit = kernel.as_ref().and_then(Share::culprit);
    let cost = Cost::of([examiner.waits_for_cpu()?]);
    let evidence = [rate].into_iter().chain(kernel.map(|share| share.evidence));
    Ok(Some(sentence(Trouble::Network, cost, text, culprit, evidence)))
}
