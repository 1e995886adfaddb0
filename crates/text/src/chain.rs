//! Chains of waits, as a tree of lines.

use std::fmt::Write as _;

use facts::linux::tcp_info::{Question, TcpInfo};
use facts::task::chain::{Activity, Chain, End, Link, Object};
use facts::task::wait::{Wait, WaitReason};
use facts::unit::Nanos;

use crate::printable::Shown as _;
use crate::units::Span;

/// Times of TCP that are shorter say nothing of a wait, in milliseconds.
const MIN_SILENCE_MS: u32 = 100;

/// Appends a chain, a line for each link.
pub fn push(chain: &Chain, out: &mut String) {
    for (place, link) in chain.links.iter().enumerate() {
        push_branches(chain, place, out);
        let LinkLine { before, name, after } = LinkLine::of(link);
        let _ = writeln!(out, "{before}{name}{after}");
    }
}

/// The line of a link, without the branches that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkLine {
    /// The words before the name.
    pub before: &'static str,
    /// The name and the id of its thread, and how many others do the same.
    pub name: String,
    /// What it does, and why nothing follows.
    pub after: String,
}

impl LinkLine {
    /// Writes a link of a chain.
    pub fn of(link: &Link) -> Self {
        let (mut name, mut after) = (String::new(), String::new());
        push_name(link, &mut name);
        push_after(link, &mut after);
        Self { before: if link.is_probable { "probably on " } else { "" }, name, after }
    }
}

fn push_after(link: &Link, out: &mut String) {
    match link.end {
        Some(End::Circle) => out.push_str(", which is above: a circle"),
        Some(End::Above) => out.push_str(", see above"),
        end => {
            out.push_str(match (link.is_probable, link.threads) {
                (false, _) => " ",
                (true, 1) => ", which ",
                (true, _) => ", which all ",
            });
            push_activity(link, out);
            out.push_str(match end {
                Some(End::Unknown) => "; of whom is not known",
                Some(End::OtherUser) if link.thread.activity == Activity::Hidden => "; why may not be read",
                Some(End::OtherUser) => "; of a process that may not be looked at",
                Some(End::Gone) => "; who that was is gone",
                Some(End::TooLong) => "; and so on",
                _ => "",
            });
        }
    }
    match link.others {
        0 => {}
        1 => out.push_str("; or another process"),
        others => {
            let _ = write!(out, "; or {others} other processes");
        }
    }
}

/// A link in words: who, and what it does.
pub fn words_of_link(link: &Link) -> String {
    let mut words = String::new();
    push_name(link, &mut words);
    words.push(' ');
    push_activity(link, &mut words);
    words
}

/// The lines that lead from a link above.
fn push_branches(chain: &Chain, place: usize, out: &mut String) {
    let depth = chain.links[place].depth;
    for level in 1..=depth {
        // Whether a link of this level follows, before one that is above it.
        let mut after = chain.links[place + 1..].iter().take_while(|link| link.depth >= level);
        let goes_on = after.any(|link| link.depth == level);
        out.push_str(match (level == depth, goes_on) {
            (true, true) => "├─ ",
            (true, false) => "└─ ",
            (false, true) => "│  ",
            (false, false) => "   ",
        });
    }
}

fn push_name(link: &Link, out: &mut String) {
    let _ = write!(out, "{} ({})", link.thread.comm.shown(), link.thread.tid);
    match link.threads {
        1 => {}
        2 => out.push_str(" and another thread"),
        threads => {
            let _ = write!(out, " and {} other threads", threads - 1);
        }
    }
}

/// Appends what it does, and for what it waits.
fn push_activity(link: &Link, out: &mut String) {
    let is_one = link.threads == 1;
    let verb = |one: &'static str, several: &'static str| if is_one { one } else { several };
    out.push_str(match link.thread.activity {
        Activity::Runs => verb("is on a CPU, or could be", "are on CPUs, or could be"),
        Activity::Hidden => verb("sleeps", "sleep"),
        Activity::Stopped => verb("is stopped by a signal", "are stopped by a signal"),
        Activity::Traced => verb("is held by a debugger", "are held by a debugger"),
        Activity::Ended => verb("has ended, and its parent does not know it", "have ended"),
        Activity::Waits(wait) => {
            push_wait(wait, link, verb("waits", "wait"), out);
            return;
        }
    });
}

/// Appends for what it waits: the object says more than the reason.
fn push_wait(wait: Wait, link: &Link, waits: &str, out: &mut String) {
    let is_for_room = link.awaited.is_for_room;
    let way = if is_for_room { "for room at" } else { "for data from" };
    let is_connecting = wait.call.is_some_and(|call| call.name() == "connect");
    let _ = match &link.awaited.object {
        Object::Connection { remote, .. } if is_connecting => {
            write!(out, "{waits} for a connection to {remote}")
        }
        Object::Connection { protocol, remote, tcp, .. } => {
            let tcp = tcp.map_or(String::new(), |tcp| words_of_tcp(&tcp, is_for_room));
            write!(out, "{waits} {way} {remote} ({}{tcp})", protocol.name())
        }
        Object::UnixSocket(Some(name)) => write!(out, "{waits} {way} the socket {}", name.shown()),
        Object::UnixSocket(None) => write!(out, "{waits} {way} a socket without a name"),
        Object::Pipe => write!(out, "{waits} {way} a pipe"),
        Object::ThreadEnd => write!(out, "{waits} for the end of a thread"),
        Object::Lock(address) => write!(out, "{waits} for a lock at {address:#x}"),
        Object::File(path) => {
            let of = if wait.reason == WaitReason::FileLock { "the lock of " } else { "" };
            write!(out, "{waits} for {of}{}", path.shown())
        }
        Object::Descriptors(1) => write!(out, "{waits} for events of 1 descriptor"),
        Object::Descriptors(count) => write!(out, "{waits} for events of {count} descriptors"),
        Object::None => write!(out, "{waits} {}", words(wait.reason)),
    };
    if let Some(call) = wait.call {
        let _ = write!(out, ", in {}", call.name());
    }
}

/// A reason without an object, after "waits".
fn words(reason: WaitReason) -> &'static str {
    match reason {
        WaitReason::Lock => "for a lock, a condition or a semaphore",
        WaitReason::FileLock => "for the lock of a file",
        WaitReason::Disk => "for a disk",
        WaitReason::Filesystem => "for a filesystem that another process or machine serves",
        WaitReason::Pipe => "for a pipe",
        WaitReason::LocalSocket | WaitReason::RemoteSocket | WaitReason::Socket => "for a socket",
        WaitReason::Child => "for a child",
        WaitReason::Timer => "until a point in time",
        WaitReason::Events => "for events",
        WaitReason::Clients => "for clients",
        WaitReason::Terminal => "for a terminal",
        WaitReason::Signal => "for a signal",
        WaitReason::Submitted => "for I/O that it submitted",
        WaitReason::Device => "for a device",
        WaitReason::Message => "for a message",
        WaitReason::File => "for a file",
        WaitReason::Page => "for a page of memory",
        WaitReason::KernelWork => "for work in the kernel",
        WaitReason::Other => "in the kernel",
    }
}

/// What TCP knows that explains a wait, after a semicolon; empty if that is nothing.
fn words_of_tcp(tcp: &TcpInfo, is_for_room: bool) -> String {
    let mut words = String::new();
    if !is_for_room && tcp.question() == Question::Unanswered && tcp.last_sent_ms >= MIN_SILENCE_MS {
        let silence = Span(Nanos(u64::from(tcp.last_sent_ms) * 1_000_000));
        let _ = write!(words, "; sent {silence} ago, no answer yet");
    }
    if tcp.probes > 0 {
        let _ = write!(words, "; it does not read, {} probes", tcp.probes);
    }
    if tcp.retransmits > 0 {
        let _ = write!(words, "; not acknowledged, sent again {} times in a row", tcp.retransmits);
    }
    if tcp.unsent_bytes > 0 {
        let _ = write!(words, "; {} bytes not sent", tcp.unsent_bytes);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::linux::socket_tables::InetProtocol;
    use facts::linux::system_calls::Machine;
    use facts::task::chain::{Awaited, Dependence, ThreadNow};
    use facts::task::wait::FileKind;

    fn link(depth: usize, tid: u32, number: i32, object: Object) -> Link {
        let wait = Wait::of_call(Machine::X86_64, number, [3, 1, 0, 0], FileKind::LoopbackSocket).unwrap();
        let activity = if number == 999 { Activity::Runs } else { Activity::Waits(wait) };
        Link {
            depth,
            thread: ThreadNow { tid, pid: tid, comm: format!("t{tid}"), activity },
            threads: 1,
            awaited: Awaited { is_for_room: number == 1, ..Awaited::new(object, Dependence::None) },
            end: None,
            is_probable: false,
            others: 0,
        }
    }

    #[test]
    fn a_chain_is_a_tree() {
        let tcp = TcpInfo {
            unacknowledged: 0,
            lost: 0,
            retransmits: 0,
            probes: 0,
            last_sent_ms: 4_200,
            last_received_ms: 5_000,
            data_segments: None,
            round_trip_us: 40,
            total_retransmitted: 0,
            unsent_bytes: 0,
        };
        let remote = "127.0.0.1:80".parse().unwrap();
        let connection =
            Object::Connection { protocol: InetProtocol::Tcp, remote, is_made_here: true, tcp: Some(tcp) };
        let mut links = vec![
            link(0, 1, 45, connection),
            Link { threads: 3, is_probable: true, ..link(1, 2, 202, Object::Lock(0x7f00)) },
            Link { end: Some(End::Explained), ..link(2, 3, 999, Object::None) },
            Link { end: Some(End::Unknown), ..link(1, 4, 1, Object::UnixSocket(Some("/run/x".to_owned()))) },
            Link { end: Some(End::Explained), ..link(0, 5, 230, Object::None) },
        ];
        links[3].others = 2;
        let mut text = String::new();
        push(&Chain { links }, &mut text);
        let expected = "\
t1 (1) waits for data from 127.0.0.1:80 (TCP; sent 4.20 s ago, no answer yet), in recvfrom
├─ probably on t2 (2) and 2 other threads, which all wait for a lock at 0x7f00, in futex
│  └─ t3 (3) is on a CPU, or could be
└─ t4 (4) waits for room at the socket /run/x, in write; of whom is not known; or 2 other processes
t5 (5) waits until a point in time, in clock_nanosleep
";
        assert_eq!(text, expected);
    }
}
