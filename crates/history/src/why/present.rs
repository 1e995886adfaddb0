//! What holds up tasks now: sentences of several looks at the machine, which no history has.

use facts::task::chain::{Activity, Chain, HeldUp, Hindrance, Holdup, Link, ThreadNow, WaitSource, chain_of};
use facts::task::wait::WaitReason;
use facts::unit::Nanos;
use text::chain::words_of_link;
use text::units::Span;

use super::finding::{Cost, sentence};
use super::sentence::{Culprit, Program, Sentence, Trouble};

/// Fewer threads that wait, on average, are no trouble.
const MIN_WAITING: f64 = 0.5;
/// Fewer threads that queue for one lock are none: one waits while another one works.
const MIN_QUEUE: f64 = 1.5;
/// Who waits longer for another machine, and has asked once, waits for news.
const MAX_QUESTION_MS: u32 = 10_000;
/// The most sentences of each kind.
const MAX_OF_A_KIND: usize = 3;

/// Returns the sentences about what holds up tasks. `source` is at the last look.
pub fn hold_ups(held_up: &HeldUp, source: &mut impl WaitSource) -> Vec<Sentence> {
    let mut sentences: Vec<Sentence> =
        held_up.deadlocks().take(MAX_OF_A_KIND).map(|threads| deadlock(threads, source)).collect();
    // Those that wait by way of others for one thread are named once.
    let mut ends: Vec<u32> = Vec::new();
    for holdup in held_up.holdups() {
        let average = held_up.average(holdup);
        let is_lasting = holdup.looks * 2 >= held_up.looks;
        let least = if matches!(holdup.hindrance, Hindrance::Lock { .. }) { MIN_QUEUE } else { MIN_WAITING };
        if !is_lasting || average < least {
            continue;
        }
        let Some((found, end)) = of_holdup(holdup, held_up, source) else { continue };
        let of_kind = sentences.iter().filter(|other| other.trouble == found.trouble).count();
        if of_kind < MAX_OF_A_KIND && end.is_none_or(|end| !ends.contains(&end)) {
            ends.extend(end);
            sentences.push(found);
        }
    }
    sentences
}

fn deadlock(threads: &[ThreadNow], source: &mut impl WaitSource) -> Sentence {
    let named = |thread: &ThreadNow| format!("{} ({})", thread.comm, thread.tid);
    let names: Vec<String> = threads.iter().map(named).collect();
    let (first, count) = (&threads[0], threads.len());
    let who = match threads.iter().all(|thread| thread.pid == first.pid) {
        true => format!("{count} threads of {}", name_of(source, first.pid)),
        false => format!("{count} processes"),
    };
    let text = format!("{who} wait for one another, and none goes on: {}.", names.join(", "));
    let culprit = Some(Culprit::Program(Program::new(first.comm.clone(), Some(first.pid))));
    sentence(Trouble::Deadlock, Cost::Failure, text, culprit, [])
}

/// The sentence of a hindrance, and the thread that it ends at if several can end there. `None` if nothing is wrong with it.
fn of_holdup(
    holdup: &Holdup,
    held_up: &HeldUp,
    source: &mut impl WaitSource,
) -> Option<(Sentence, Option<u32>)> {
    let (average, looks) = (held_up.average(holdup), held_up.looks);
    let (seen, count) = (holdup.looks, holdup.pids.len());
    let example = format!("{} ({})", holdup.example.comm, holdup.example.pid);
    let who = match count {
        1 => format!("{example} waited in {seen} of {looks} looks"),
        several => format!("{several} processes waited"),
    };
    let (trouble, text, culprit, end) = match &holdup.hindrance {
        Hindrance::Lock { pid, address } => {
            let text = format!(
                "Over {looks} looks {} threads of {} waited on average for one lock, at {address:#x}; {}.",
                if average < 100.0 { format!("{average:.1}") } else { format!("{average:.0}") },
                name_of(source, *pid),
                words_of_holders(holdup)?
            );
            (Trouble::Contention, text, Some(Program::of(&*source.process(*pid)?)), None)
        }
        Hindrance::FileLock { path, holder } => {
            let end = ChainEnd::of(source, *holder).filter(|end| !end.is_idle)?;
            let (name, probably) = (name_of(source, *holder), probably(holdup));
            let text = format!("{who} for the lock of {path}, which {probably}{name} holds{}.", end.words);
            (Trouble::Contention, text, Some(end.program), Some(end.tid))
        }
        Hindrance::Reader { pid } => {
            // A pager that waits for its user is no trouble.
            let end = ChainEnd::of(source, *pid).filter(|end| end.reason != Some(WaitReason::Terminal))?;
            let (name, probably) = (name_of(source, *pid), probably(holdup));
            let text = format!("{who} for {probably}{name} to read what was sent to it{}.", end.words);
            (Trouble::Reader, text, Some(end.program), Some(end.tid))
        }
        Hindrance::Server { pid } => {
            // Who asks once, and is sent news from then on, is not answered by a server that has nothing to do.
            let end = ChainEnd::of(source, *pid).filter(|end| !end.is_idle || holdup.is_asked_again)?;
            let (name, probably) = (name_of(source, *pid), probably(holdup));
            let text = format!("{who} for answers of {probably}{name}{}.", end.words);
            (Trouble::Server, text, Some(end.program), Some(end.tid))
        }
        Hindrance::Remote { address, is_reader, is_silent } => {
            let way = match is_silent {
                true => ", which does not acknowledge it".to_owned(),
                false => format!(", {} ago", Span(Nanos(u64::from(holdup.asked_ms) * 1_000_000))),
            };
            let is_trouble = *is_reader || *is_silent || holdup.is_asked_again;
            (is_trouble || holdup.asked_ms < MAX_QUESTION_MS).then_some(())?;
            match is_reader {
                true => {
                    let text = format!("{who} for {address} to read what was last sent to it{way}.");
                    (Trouble::Reader, text, None, None)
                }
                false => {
                    let text = format!("{who} for answers of {address} to what was last sent to it{way}.");
                    (Trouble::Server, text, None, None)
                }
            }
        }
    };
    let culprit = culprit.map(Culprit::Program);
    Some((sentence(trouble, Cost::Lost(average), text, culprit, []), end))
}

fn probably(holdup: &Holdup) -> &'static str {
    if holdup.is_probable { "probably " } else { "" }
}

/// Who held a lock, and what it did meanwhile; `None` if it had nothing to do: others wait to take its place then.
fn words_of_holders(holdup: &Holdup) -> Option<String> {
    let who = match holdup.holders.len() {
        1 => "one thread held it, and".to_owned(),
        several => format!("{several} threads held it in turn, and the holder"),
    };
    let (reason, times) = holdup.mostly_held_while()?;
    let did = match reason {
        Some(reason) if reason.is_idle() => return None,
        Some(WaitReason::Timer) => "slept until a point in time".to_owned(),
        Some(reason) => format!("waited itself ({})", reason.name()),
        None => "was on a CPU, or could be".to_owned(),
    };
    let all = holdup.held_while.values().sum::<u32>();
    Some(format!("{who} {did} in {:.0} % of what was seen", f64::from(times) / f64::from(all.max(1)) * 100.0))
}

/// The end of the chain of a process: why it does not do what others wait for.
struct ChainEnd {
    /// After what it ends.
    words: String,
    tid: u32,
    program: Program,
    reason: Option<WaitReason>,
    is_idle: bool,
}

impl ChainEnd {
    /// Follows the first branch of the chain of a process.
    fn of(source: &mut impl WaitSource, pid: u32) -> Option<Self> {
        let chain = chain_of(source, pid)?;
        let last = last_of(&chain)?;
        let way = if last.thread.pid == pid { "" } else { "in the end " };
        let reason = match last.thread.activity {
            Activity::Waits(wait) => Some(wait.reason),
            _ => None,
        };
        Some(Self {
            words: format!("; {way}{}", words_of_link(last)),
            tid: last.thread.tid,
            program: Program::new(last.thread.comm.clone(), Some(last.thread.pid)),
            reason,
            is_idle: last.thread.is_idle(),
        })
    }
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
    source.process(pid).map(|process| process.comm().to_owned())
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use facts::linux::socket_tables::InetProtocol;
    use facts::linux::system_calls::Machine;
    use facts::linux::tcp_info::{DataSegments, TcpInfo};
    use facts::task::chain::{Awaited, Dependence, Object, ProcessNow};
    use facts::task::wait::{FileKind, Wait};

    use super::*;

    const READ: i32 = 0;
    const WRITE: i32 = 1;
    const ACCEPT: i32 = 43;
    const RECEIVE: i32 = 45;
    const FLOCK: i32 = 73;
    const SLEEP: i32 = 230;
    const EPOLL: i32 = 232;

    /// Processes of one thread: number, system call, kind of its file, and what it waits for.
    struct Staged(Vec<(u32, i32, FileKind, Awaited)>);

    impl WaitSource for Staged {
        fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
            let (_, call, file, _) = self.0.iter().find(|(known, ..)| *known == pid)?;
            let wait = Wait::of_call(Machine::X86_64, *call, [3, 1, 0, 0], *file)?;
            let thread =
                ThreadNow { tid: pid, pid, comm: format!("p{pid}"), activity: Activity::Waits(wait) };
            Some(Rc::new(ProcessNow { pid, threads: vec![thread] }))
        }

        fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
            let found = self.0.iter().find(|(pid, ..)| *pid == thread.pid);
            found.map_or(Awaited::NOTHING, |(.., awaited)| awaited.clone())
        }
    }

    fn on(pid: u32) -> Dependence {
        Dependence::Processes { pids: vec![pid], is_probable: false }
    }

    /// What is said of process 1 that waits, by the call of process 2.
    fn said(call: i32, file: FileKind, awaited: &[Awaited], other: (i32, FileKind)) -> Vec<String> {
        let mut held_up = HeldUp::default();
        let mut staged = Staged(Vec::new());
        for awaited in awaited {
            staged = Staged(vec![(1, call, file, awaited.clone()), (2, other.0, other.1, Awaited::NOTHING)]);
            held_up.look(&mut staged, &[1, 2]);
        }
        hold_ups(&held_up, &mut staged).into_iter().map(|sentence| sentence.text).collect()
    }

    fn connection(remote: &str, last_sent_ms: u32, sent: u32, on: Dependence) -> Awaited {
        let tcp = TcpInfo {
            unacknowledged: 0,
            lost: 0,
            retransmits: 0,
            probes: 0,
            last_sent_ms,
            last_received_ms: last_sent_ms + 1,
            data_segments: Some(DataSegments { sent, received: 1 }),
            round_trip_us: 9,
            total_retransmitted: 0,
            unsent_bytes: 0,
        };
        let (protocol, remote) = (InetProtocol::Tcp, remote.parse().unwrap());
        Awaited::new(Object::Connection { protocol, remote, is_made_here: true, tcp: Some(tcp) }, on)
    }

    #[test]
    fn who_does_not_read_is_named_unless_a_person_reads() {
        let pipe = Awaited { is_for_room: true, ..Awaited::new(Object::Pipe, on(2)) };
        let read_by = |other| said(WRITE, FileKind::Pipe, std::slice::from_ref(&pipe), other);
        assert_eq!(
            read_by((SLEEP, FileKind::Unknown)),
            [
                "p1 (1) waited in 1 of 1 looks for p2 (2) to read what was sent to it; p2 (2) waits until a point in time, in clock_nanosleep."
            ]
        );
        assert!(read_by((READ, FileKind::Terminal)).is_empty());
    }

    #[test]
    fn a_server_without_work_is_named_only_if_it_is_asked_again() {
        let looks = |sent: [u32; 2], other: i32| {
            let looks = sent.map(|sent| connection("127.0.0.1:80", 500, sent, on(2)));
            said(RECEIVE, FileKind::LoopbackSocket, &looks, (other, FileKind::EventPoll))
        };
        assert!(looks([5, 5], EPOLL).is_empty() && looks([5, 5], ACCEPT).is_empty());
        let [text] = &looks([5, 6], EPOLL)[..] else { panic!("none") };
        assert!(
            text.starts_with("p1 (1) waited in 2 of 2 looks for answers of p2 (2); p2 (2) waits for events"),
            "{text}"
        );
        assert_eq!(looks([5, 5], SLEEP).len(), 1);
    }

    #[test]
    fn another_machine_is_named_soon_after_it_was_asked() {
        let asked_ago = |milliseconds: u32| {
            let one = connection("192.0.2.1:80", milliseconds, 5, Dependence::None);
            said(RECEIVE, FileKind::RemoteSocket, &[one], (SLEEP, FileKind::Unknown))
        };
        assert_eq!(
            asked_ago(3_000),
            [
                "p1 (1) waited in 1 of 1 looks for answers of 192.0.2.1:80 to what was last sent to it, 3.00 s ago."
            ]
        );
        assert!(asked_ago(20_000).is_empty());
    }

    #[test]
    fn the_holder_of_a_lock_is_named_unless_it_has_no_work() {
        let lock = Awaited::new(Object::File("/srv/lock".to_owned()), on(2));
        let held_by = |other| said(FLOCK, FileKind::Regular, std::slice::from_ref(&lock), other);
        let [text] = &held_by((SLEEP, FileKind::Unknown))[..] else { panic!("none") };
        assert!(
            text.starts_with("p1 (1) waited in 1 of 1 looks for the lock of /srv/lock, which p2 (2) holds;"),
            "{text}"
        );
        assert!(held_by((EPOLL, FileKind::EventPoll)).is_empty());
    }
}
