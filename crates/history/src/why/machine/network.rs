//! The network.

use query::QueryError;

use super::cpu::waits;
use super::words::{count, percent};
use crate::why::examiner::{Examiner, Share};
use crate::why::finding::{Cost, Found, sentence};
use crate::why::matchers::quoted;
use crate::why::sentence::{Evidence, Trouble};

/// Fewer packets in each second are no trouble.
const MANY: f64 = 20_000.0;

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
