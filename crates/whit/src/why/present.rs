//! What tasks wait for now: chains of those that were asked about, and what holds up others.

use std::time::{Duration, Instant};

use ::history::why::{Findings, Sentence, Target, hold_ups};
use facts::task::chain::{Activity, Chain, End, HeldUp, Link, Object, WaitSource as _, chain_of};
use probe::waits::WaitReader;
use serde_json::{Value, json};

/// The most processes of one name whose chains are shown.
const MAX_PROCESSES: usize = 4;

/// The looks at a machine on which something is held up, and the time between two.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The time over which sockets are compared.
const BETWEEN_SOCKETS: Duration = Duration::from_millis(500);

/// Adds what is seen now.
pub(super) fn add_to(findings: &mut Findings) {
    let Ok(mut reader) = WaitReader::open() else { return };
    let begun = Instant::now();
    let before = findings.has_socket_losses().then(|| reader.inet_sockets());
    findings.add(sentences(&mut reader));
    if let Some(before) = before {
        std::thread::sleep(BETWEEN_SOCKETS.saturating_sub(begun.elapsed()));
        reader.look_again();
        let now = reader.inet_sockets();
        findings.name_sockets(&before, &now, |inode| reader.owner_of(inode));
    }
}

/// Looks at all processes, and several times at those that something holds up. Returns sentences about that.
fn sentences(reader: &mut WaitReader) -> Vec<Sentence> {
    let mut held_up = HeldUp::default();
    let mut pids = reader.pids();
    pids.retain(|pid| *pid != std::process::id());
    pids = held_up.look(reader, &pids);
    while !pids.is_empty() && held_up.looks < LOOKS {
        std::thread::sleep(BETWEEN_LOOKS);
        reader.look_again();
        held_up.look(reader, &pids);
    }
    hold_ups(&held_up, reader)
}

/// Follows what the processes of a target wait for now; none if they are gone, or not known by process or name.
pub(super) fn chains(target: &Target) -> Vec<Chain> {
    let Ok(mut reader) = WaitReader::open() else { return Vec::new() };
    let pids = match target {
        Target::Process(pid) => vec![*pid],
        Target::Name(name) => named(&mut reader, name),
        Target::Cgroup(_) | Target::Unit(_) | Target::ContainerId(_) | Target::Container(_) => Vec::new(),
    };
    pids.into_iter().filter_map(|pid| chain_of(&mut reader, pid)).take(MAX_PROCESSES).collect()
}

/// The processes with a name, and not this one.
fn named(reader: &mut WaitReader, name: &str) -> Vec<u32> {
    let mut pids = reader.pids();
    pids.retain(|pid| {
        let process = reader.process(*pid);
        *pid != std::process::id() && process.is_some_and(|process| process.comm() == name)
    });
    pids
}

/// Chains as JSON, a list of links each.
pub(super) fn to_json(chains: &[Chain]) -> Value {
    let links = |chain: &Chain| chain.links.iter().map(link).collect::<Value>();
    chains.iter().map(links).collect()
}

fn link(link: &Link) -> Value {
    let (reason, call) = match link.thread.activity {
        Activity::Waits(wait) => (Some(wait.reason.name()), wait.call.map(|call| call.name())),
        _ => (None, None),
    };
    let (object, name) = match &link.awaited.object {
        Object::None => (None, None),
        Object::Lock(address) => (Some("lock"), Some(format!("{address:#x}"))),
        Object::ThreadEnd => (Some("thread_end"), None),
        Object::File(path) => (Some("file"), Some(path.clone())),
        Object::Pipe => (Some("pipe"), None),
        Object::UnixSocket(name) => (Some("unix_socket"), name.clone()),
        Object::Connection { remote, .. } => (Some("connection"), Some(remote.to_string())),
        Object::Descriptors(count) => (Some("descriptors"), Some(count.to_string())),
    };
    json!({
        "depth": link.depth,
        "pid": link.thread.pid,
        "tid": link.thread.tid,
        "comm": link.thread.comm,
        "threads": link.threads,
        "activity": activity(link.thread.activity),
        "reason": reason,
        "system_call": call,
        "object_kind": object,
        "object": name,
        "is_probable": link.is_probable,
        "end": link.end.map(end),
        "other_processes": link.others,
    })
}

fn activity(activity: Activity) -> &'static str {
    match activity {
        Activity::Runs => "runs",
        Activity::Waits(_) => "waits",
        Activity::Hidden => "hidden",
        Activity::Stopped => "stopped",
        Activity::Traced => "traced",
        Activity::Ended => "ended",
    }
}

fn end(end: End) -> &'static str {
    match end {
        End::Explained => "explained",
        End::Circle => "circle",
        End::Above => "above",
        End::Unknown => "unknown",
        End::OtherUser => "other_user",
        End::Gone => "gone",
        End::TooLong => "too_long",
    }
}
