//! What sleeping tasks wait for: each reason is staged, and shown.

use std::collections::BTreeMap;
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::machine::{Load, Scratch, documents, peer, wait_for, wait_for_state, whit};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let all = [Need::Root, Need::Program("cc"), Need::Program("unshare"), Need::Program("ip")];
    vec![
        exact("each_wait_has_its_reason", &all, reasons),
        exact("a_task_that_runs_waits_for_nothing", &all, awake),
    ]
}

/// What `tests/peers/waits.c` waits for, the reason that is expected, and the system call.
const WAITS: [(&str, &str, &str); 38] = [
    ("mutex", "lock", "futex"),
    ("condition", "lock", "futex"),
    ("rwlock", "lock", "futex"),
    ("semaphore", "lock", "futex"),
    ("thread", "lock", "futex"),
    ("flock", "file lock", "flock"),
    ("fcntl", "file lock", "fcntl"),
    ("pipe-empty", "pipe", "read"),
    ("pipe-full", "pipe", "write"),
    ("fifo", "file", "openat"),
    ("socketpair", "local socket", "read"),
    ("loopback-4", "local socket", "recvfrom"),
    ("loopback-6", "local socket", "recvfrom"),
    ("mapped", "local socket", "recvfrom"),
    ("own-4", "local socket", "recvfrom"),
    ("remote-4", "remote socket", "recvfrom"),
    ("remote-6", "remote socket", "recvfrom"),
    ("unconnected", "socket", "recvfrom"),
    ("server", "local socket", "read"),
    ("accept", "clients", "accept"),
    ("child", "child", "wait4"),
    ("known-child", "child", "wait4"),
    ("vfork", "child", "vfork"),
    ("sleep", "timer", "clock_nanosleep"),
    ("poll-pause", "timer", "poll"),
    ("select-pause", "timer", "pselect6"),
    ("timerfd", "timer", "read"),
    ("poll", "events", "poll"),
    ("select", "events", "pselect6"),
    ("epoll", "events", "epoll_wait"),
    ("eventfd", "events", "read"),
    ("inotify", "events", "read"),
    ("terminal", "terminal", "read"),
    ("sigwait", "signal", "rt_sigtimedwait"),
    ("signalfd", "signal", "read"),
    ("pause", "signal", "pause"),
    ("ring", "submitted I/O", "io_uring_enter"),
    ("message", "message", "mq_timedreceive"),
];

/// What whit says of processes, by their ids. The source is the iterator or /proc.
fn waits_of(loads: &BTreeMap<&str, Load>, source: &str) -> BTreeMap<u32, Value> {
    let pids: Vec<String> = loads.values().map(|load| load.id().to_string()).collect();
    let output = whit(&["top", "-n", "1", "--json", "--direct", "--tasks", source, "-p", &pids.join(",")]);
    let rows = documents(&output)[0]["tasks"].as_array().cloned().unwrap_or_default();
    rows.iter().map(|row| (row["pid"].as_u64().unwrap_or(0) as u32, row["waits"].clone())).collect()
}

fn reasons() -> Result<(), Failed> {
    let scratch = Scratch::new("waits");
    let program = peer("waits").display().to_string();
    // A network with one address of its own; other addresses are elsewhere.
    let network = "ip link set lo up && ip link add wait0 type veth && ip addr add 192.0.2.1/24 dev wait0 && \
                   ip addr add 2001:db8::1/64 dev wait0 nodad && ip link set wait0 up";
    let start = |(what, ..): &(&'static str, &str, &str)| {
        let words = format!("{network} && exec {program} {what} {}", scratch.0.join(what).display());
        (*what, Load::start(&["unshare", "--net", "sh", "-c", &words]))
    };
    let loads: BTreeMap<&str, Load> = WAITS.iter().map(start).collect();
    for (what, load) in &loads {
        wait_for(&format!("{what} has begun"), || {
            let comm = std::fs::read_to_string(format!("/proc/{}/comm", load.id()));
            comm.is_ok_and(|comm| comm == "waits\n")
        });
    }
    for source in ["bpf", "procfs"] {
        let all = |found: &BTreeMap<u32, Value>| {
            WAITS
                .iter()
                .all(|wait| found.get(&loads[wait.0].id()).is_some_and(|waits| is_right(waits, wait, source)))
        };
        // Each is there within milliseconds of its own time; a busy machine gives it that later.
        let mut found = BTreeMap::new();
        for _ in 0..200 {
            found = waits_of(&loads, source);
            if all(&found) {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let wrong = WAITS.iter().filter(|wait| !is_right(&found[&loads[wait.0].id()], wait, source));
        let wrong: Vec<String> =
            wrong.map(|(what, ..)| format!("{source}, {what}: {}", found[&loads[what].id()])).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    Ok(())
}

/// Whether it is what is expected.
fn is_right(waits: &Value, (what, reason, call): &(&str, &str, &str), source: &str) -> bool {
    // The link of a socket in /proc does not say whose its other end is.
    let reason = if source == "procfs" && reason.ends_with(" socket") { "socket" } else { *reason };
    let is_idle = matches!(reason, "events" | "clients" | "signal");
    let expected = json!({ "reason": reason, "is_idle": is_idle, "call": call, "threads": 1 });
    let waits = waits.as_array().map(Vec::as_slice).unwrap_or_default();
    // One of the threads of "thread" pauses.
    waits.contains(&expected) && (waits.len() == 1 || *what == "thread")
}

fn awake() -> Result<(), Failed> {
    let stopped = Load::start(&["sleep", "1000"]);
    wait_for_state(stopped.id(), 'S');
    let pid = rustix::process::Pid::from_raw(stopped.id().cast_signed()).ok_or("no process")?;
    rustix::process::kill_process(pid, rustix::process::Signal::STOP)?;
    wait_for_state(stopped.id(), 'T');
    let loads = BTreeMap::from([("stopped", stopped)]);
    assert_eq!(waits_of(&loads, "bpf").values().collect::<Vec<_>>(), [&Value::Null]);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT)?;
    drop(loads);

    let load = Load::start(&["sh", "-c", "while :; do :; done"]);
    wait_for_state(load.id(), 'R');
    let loads = BTreeMap::from([("loop", load)]);
    for _ in 0..5 {
        let found = waits_of(&loads, "bpf");
        assert_eq!(found.values().collect::<Vec<_>>(), [&json!([])]);
    }
    Ok(())
}
