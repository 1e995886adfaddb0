//! What holds up tasks now: sentences of several looks at the machine, which no history has.

use facts::task::chain::{Chain, HeldUp, Hindrance, Holdup, Link, ThreadNow, WaitSource, chain_of};
use facts::task::wait::WaitReason;
use text::chain::words_of_link;

use super::finding::{Cost, sentence};
use super::sentence::{Culprit, Sentence, Trouble};

/// Fewer threads that wait, on average, are no trouble.
const LEAST_WAITING: f64 = 0.5;
/// Fewer threads that queue for one lock are none: one waits while another one works.
const LEAST_QUEUE: f64 = 1.5;
/// The most sentences of each kind.
const MOST_OF_A_KIND: usize = 3;

/// Returns the sentences about what holds up tasks. `source` is at the last look.
pub fn hold_ups(held_up: &HeldUp, source: &mut impl WaitSource) -> Vec<Sentence> {
    let mut sentences: Vec<Sentence> =
        held_up.deadlocks().take(MOST_OF_A_KIND).map(|threads| deadlock(threads, source)).collect();
    // Those that wait by way of others for one thread are named once.
    let mut ends: Vec<u32> = Vec::new();
    for holdup in held_up.holdups() {
        let average = held_up.average(holdup);
        let is_lasting = holdup.looks * 2 >= held_up.looks;
        let least =
            if matches!(holdup.hindrance, Hindrance::Lock { .. }) { LEAST_QUEUE } else { LEAST_WAITING };
        if !is_lasting || average < least {
            continue;
        }
        let Some((found, end)) = of_holdup(holdup, held_up, source) else { continue };
        let of_kind = sentences.iter().filter(|other| other.trouble == found.trouble).count();
        if of_kind < MOST_OF_A_KIND && end.is_none_or(|end| !ends.contains(&end)) {
            ends.extend(end);
            sentences.push(found);
        }
    }
    sentences
}

fn deadlock(threads: &[ThreadNow], source: &mut impl WaitSource) -> Sentence {
    let named = |thread: &ThreadNow| format!("{} ({})", thread.comm, thread.tid);
    let names: Vec<String> = threads.iter().map(named).collect();
    let first = &threads[0];
    let is_one_process = threads.iter().all(|thread| thread.pid == first.pid);
    let who = match is_one_process {
        true => format!("{} threads of {}", threads.len(), name_of(source, first.pid)),
        false => format!("{} threads", threads.len()),
    };
    let text = format!("{who} wait for one another's locks, and none goes on: {}.", names.join(", "));
    let culprit = Some(Culprit::Program(first.comm.clone()));
    sentence(Trouble::Deadlock, Cost::Failure, text, culprit, [])
}

/// The sentence of a hindrance, and the thread that it ends at if several can end there.
fn of_holdup(
    holdup: &Holdup,
    held_up: &HeldUp,
    source: &mut impl WaitSource,
) -> Option<(Sentence, Option<u32>)> {
    let average = held_up.average(holdup);
    let looks = held_up.looks;
    let example = format!("{} ({})", holdup.example.comm, holdup.example.pid);
    let seen = holdup.looks;
    let (trouble, text, culprit, end) = match &holdup.hindrance {
        Hindrance::Lock { pid, address } => {
            let text = format!(
                "On average of {looks} looks {average:.1} threads of {} waited for one lock, at {address:#x}; {}.",
                name_of(source, *pid),
                words_of_holders(holdup)
            );
            (Trouble::Contention, text, Some(comm_of(source, *pid)?), None)
        }
        Hindrance::FileLock { path, holder } => {
            let who = match holdup.pids.len() {
                1 => format!("{example} waited in {seen} of {looks} looks"),
                several => format!("{several} processes waited"),
            };
            let (explained, end, culprit) = explained(source, *holder)?;
            let text =
                format!("{who} for the lock of {path}, which {} holds{explained}.", name_of(source, *holder));
            (Trouble::Contention, text, Some(culprit), Some(end))
        }
        Hindrance::Reader { pid } => {
            let (explained, end, culprit) = explained(source, *pid)?;
            let reader = name_of(source, *pid);
            let text = format!(
                "{example} waited in {seen} of {looks} looks until {reader} reads what it sent{explained}."
            );
            (Trouble::Reader, text, Some(culprit), Some(end))
        }
        Hindrance::Server { pid } => {
            let (explained, end, culprit) = explained(source, *pid)?;
            let server = name_of(source, *pid);
            let text = match holdup.pids.len() {
                1 => format!(
                    "{example} waited in {seen} of {looks} looks for an answer of {server}{explained}."
                ),
                several => format!("{several} processes waited for answers of {server}{explained}."),
            };
            (Trouble::Server, text, Some(culprit), Some(end))
        }
        Hindrance::Remote { address, is_silent } => {
            let who = match holdup.pids.len() {
                1 => example,
                several => format!("{several} processes"),
            };
            let way = match is_silent {
                true => ", which does not acknowledge what was sent",
                false => "",
            };
            let text = format!("{who} waited in {seen} of {looks} looks for {address}{way}.");
            (Trouble::Server, text, None, None)
        }
    };
    let culprit = culprit.map(Culprit::Program);
    Some((sentence(trouble, Cost::Lost(average), text, culprit, []), end))
}

/// Who held a lock, and what it did meanwhile.
fn words_of_holders(holdup: &Holdup) -> String {
    let who = match holdup.holders.len() {
        1 => "one thread held it, and".to_owned(),
        several => format!("{several} threads held it in turn, and the holder"),
    };
    let most = holdup.held_while.iter().max_by_key(|(_, times)| **times);
    let did = match most {
        Some((Some(WaitReason::Timer), _)) => "slept until a point in time".to_owned(),
        Some((Some(reason), _)) => format!("waited itself ({})", reason.name()),
        _ => "was on a CPU, or could be".to_owned(),
    };
    let (times, all) = (most.map_or(0, |(_, times)| *times), holdup.held_while.values().sum::<u32>());
    format!("{who} {did} in {:.0} % of what was seen", f64::from(times) / f64::from(all.max(1)) * 100.0)
}

/// Why a process does not do what others wait for: its own wait, or that of the one that it depends on. With the thread at the end, and its
/// program.
fn explained(source: &mut impl WaitSource, pid: u32) -> Option<(String, u32, String)> {
    let chain = chain_of(source, pid)?;
    let last = last_of(&chain)?;
    let way = if last.thread.pid == pid { "" } else { "by way of others " };
    Some((format!("; {way}{}", words_of_link(last)), last.thread.tid, last.thread.comm.clone()))
}

/// The link at which the first branch of a chain ends.
fn last_of(chain: &Chain) -> Option<&Link> {
    let rises = chain.links.windows(2).take_while(|pair| pair[1].depth == pair[0].depth + 1).count();
    chain.links.get(rises)
}

fn name_of(source: &mut impl WaitSource, pid: u32) -> String {
    comm_of(source, pid).map_or_else(|| pid.to_string(), |comm| format!("{comm} ({pid})"))
}

fn comm_of(source: &mut impl WaitSource, pid: u32) -> Option<String> {
    source.process(pid)?.threads.first().map(|leader| leader.comm.clone())
}
