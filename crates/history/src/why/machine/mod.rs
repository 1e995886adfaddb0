//! The troubles of a machine. Each function is a trouble: when it is one, what it costs, who causes it.

mod cpu;
mod cpu_waits;
mod disk;
mod memory;
mod network;
mod rates;
mod switches;
mod trend;
mod words;

use query::QueryError;

use super::examiner::Examiner;
use super::sentence::{Sentence, Trouble};

/// All troubles of the machine in the window. Of two that cost the same, the first one causes the other.
pub(super) fn sentences(examiner: &Examiner<'_>) -> Result<Vec<Sentence>, QueryError> {
    let troubles = [
        memory::out_of_memory,
        disk::full_filesystem,
        trend::memory,
        trend::room,
        trend::inodes,
        cpu::forks,
        memory::swapping,
        memory::waiting,
        network::packets,
        network::connections,
        network::datagrams,
        network::retransmissions,
        switches::often,
        switches::polling,
        cpu::quota,
        cpu::idle,
        disk::stuck,
        disk::waiting,
        cpu::waiting,
        cpu::steal,
        cpu::computing,
    ];
    let mut sentences = Vec::new();
    for trouble in troubles {
        match trouble(examiner) {
            // What rests on a part of its figures may be false.
            Err(error) if examiner.is_partial(&error) => {}
            found => sentences.extend(found?),
        }
    }
    // Who computes is said already where others wait for it.
    if sentences.iter().any(|sentence| sentence.trouble != Trouble::Computing && sentence.culprit.is_some()) {
        sentences.retain(|sentence| sentence.trouble != Trouble::Computing);
    }
    Ok(sentences)
}

/// The quotas that kept tasks from CPUs, the worst first.
pub(super) fn quotas(examiner: &Examiner<'_>) -> Result<Vec<Sentence>, QueryError> {
    cpu::quotas(examiner)
}

/// Returns what cannot be known of the window, or only at fewer instants.
pub(super) fn missing(examiner: &Examiner<'_>) -> Result<Vec<String>, QueryError> {
    let mut missing = Vec::new();
    let stride = examiner.number("max_over_time(whit_agent_ticks_between_task_readings[W])")?;
    let stride = stride.filter(|stride| stride.value > 1.0);
    if let Some(stride) = &stride {
        let ticks = stride.value;
        missing
            .push(format!("what tasks did between two readings: they were read at one of {ticks:.0} ticks"));
    }
    // Both are asked before either answer is needed, so that one replay answers them.
    let count_of = |counter: &str| examiner.number(&format!("count(sum by (comm) (rate({counter}[W])))"));
    let on_cpu = count_of("whit_task_on_cpu_seconds_total")?;
    let block_io = count_of("whit_task_block_io_seconds_total")?;
    if !examiner.sees_all {
        missing.push("what tasks of other users did: they are shown to root, and to whom the agent's configuration names".to_owned());
    } else if on_cpu.is_none() {
        if stride.is_none() {
            missing.push("no tasks were recorded then: who caused anything is unknown".to_owned());
        }
    } else if block_io.is_none() {
        missing.push(
            "who waited for disks is unknown: the agent needs CAP_NET_ADMIN, and sysctl kernel.task_delayacct=1".to_owned(),
        );
    }
    Ok(missing)
}
