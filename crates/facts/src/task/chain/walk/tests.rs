//! Chains through machines that are written down here.

use super::*;
use crate::linux::socket_tables::InetProtocol;
use crate::linux::system_calls::Machine;
use crate::task::wait::FileKind;

/// A machine whose threads wait for what is written here: thread, process, system call, first argument, on whom.
struct Staged(Vec<(u32, u32, i32, u64, Dependence)>);

impl WaitSource for Staged {
    fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
        let threads: Vec<ThreadNow> = self
            .0
            .iter()
            .filter(|thread| thread.1 == pid)
            .map(|(tid, pid, call, argument, _)| ThreadNow {
                tid: *tid,
                pid: *pid,
                comm: format!("t{tid}"),
                activity: match call {
                    -9 => Activity::Runs,
                    call => {
                        let (file, arguments) = match *call {
                            RECEIVE => (FileKind::LoopbackSocket, [*argument, 0, 0, 0]),
                            // So many descriptors, without an end.
                            POLL => (FileKind::Unknown, [0, *argument, u64::MAX, 0]),
                            _ => (FileKind::Pipe, [*argument, 0, 0, 0]),
                        };
                        let wait = Wait::of_call(Machine::X86_64, *call, arguments, file);
                        Activity::Waits(wait.unwrap())
                    }
                },
            })
            .collect();
        (!threads.is_empty()).then(|| Rc::new(ProcessNow { pid, threads }))
    }

    fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
        let Some((_, _, call, port, on)) = self.0.iter().find(|row| row.0 == thread.tid) else {
            return Awaited::UNKNOWN;
        };
        let object = match *call {
            // Its process has accepted it.
            RECEIVE => Object::Connection {
                protocol: InetProtocol::Tcp,
                remote: ([127, 0, 0, 1], *port as u16).into(),
                is_made_here: false,
                tcp: None,
            },
            POLL => Object::Descriptors(*port as u32),
            _ => Object::None,
        };
        Awaited::new(object, on.clone())
    }
}

fn on(pids: &[u32]) -> Dependence {
    Dependence::Processes { pids: pids.to_vec(), is_probable: false }
}

fn thread(pid: u32, tid: u32) -> Dependence {
    Dependence::Thread { pid, tid, is_probable: true }
}

/// Depth, thread, number of threads, end and whether it is probable, of each link.
fn links(machine: Staged, pid: u32) -> Vec<(usize, u32, usize, Option<End>, bool)> {
    let mut machine = machine;
    let chain = chain_of(&mut machine, pid).unwrap();
    let links = chain.links.iter();
    links.map(|link| (link.depth, link.thread.tid, link.threads, link.end, link.is_probable)).collect()
}

const READ: i32 = 0;
const FUTEX: i32 = 202;
const EPOLL: i32 = 232;
const SLEEP: i32 = 230;
const ACCEPT: i32 = 43;
const RECEIVE: i32 = 45;
const POLL: i32 = 7;

#[test]
fn a_chain_ends_at_what_explains_itself() {
    let machine =
        Staged(vec![(1, 1, READ, 3, on(&[2])), (2, 2, EPOLL, 4, on(&[3])), (3, 3, -9, 0, Dependence::None)]);
    let expected = [(0, 1, 1, None, false), (1, 2, 1, None, false), (2, 3, 1, Some(End::Explained), false)];
    assert_eq!(links(machine, 1), expected);
}

#[test]
fn threads_that_wait_for_one_lock_are_one_link() {
    let mut threads: Vec<_> = (1..=16).map(|tid| (tid, 1, FUTEX, 0x7000, thread(1, 17))).collect();
    threads.push((17, 1, SLEEP, 0, Dependence::None));
    threads.push((18, 1, EPOLL, 0, Dependence::None));
    let expected = [
        (0, 1, 16, None, false),
        (1, 17, 1, Some(End::Explained), true),
        // The other threads of the process.
        (0, 18, 1, Some(End::Explained), false),
    ];
    assert_eq!(links(Staged(threads), 1), expected);
}

#[test]
fn circles_are_found() {
    let machine = Staged(vec![(1, 1, FUTEX, 0x10, thread(1, 2)), (2, 1, FUTEX, 0x20, thread(1, 1))]);
    let expected = [(0, 1, 1, None, false), (1, 2, 1, None, true), (2, 1, 1, Some(End::Circle), true)];
    assert_eq!(links(machine, 1), expected);
}

/// A server with a thread for each connection: those of idle clients have nothing to do with one who waits.
#[test]
fn threads_that_wait_for_requests_are_not_followed() {
    let server = |more: &[(u32, u32, i32, u64, Dependence)]| {
        let mut all = vec![
            (1, 1, READ, 3, on(&[2])),
            (2, 2, ACCEPT, 3, Dependence::None),
            (21, 2, RECEIVE, 4, on(&[4])),
            (22, 2, RECEIVE, 5, on(&[4])),
            (4, 4, SLEEP, 0, Dependence::None),
        ];
        all.extend_from_slice(more);
        Staged(all)
    };
    let idle = [(0, 1, 1, None, false), (1, 2, 1, Some(End::Explained), true)];
    assert_eq!(links(server(&[]), 1), idle);
    let busy = [(0, 1, 1, None, false), (1, 23, 1, None, true), (2, 4, 1, Some(End::Explained), false)];
    assert_eq!(links(server(&[(23, 2, FUTEX, 0x10, on(&[4]))]), 1), busy);
    // A server of one thread waits for the client whose turn it is.
    let turns = Staged(vec![
        (1, 1, READ, 3, on(&[2])),
        (2, 2, RECEIVE, 4, on(&[4])),
        (4, 4, SLEEP, 0, Dependence::None),
    ]);
    let expected = [(0, 1, 1, None, false), (1, 2, 1, None, false), (2, 4, 1, Some(End::Explained), false)];
    assert_eq!(links(turns, 1), expected);
}

/// That two threads poll does not mean that they poll the same.
#[test]
fn threads_that_poll_differ_by_what_they_poll() {
    let machine = Staged(vec![
        (1, 1, POLL, 2, Dependence::None),
        (11, 1, POLL, 1, on(&[3])),
        (12, 1, POLL, 2, Dependence::None),
        (3, 3, SLEEP, 0, Dependence::None),
    ]);
    let expected = [
        (0, 1, 2, Some(End::Explained), false),
        (0, 11, 1, None, false),
        (1, 3, 1, Some(End::Explained), false),
    ];
    assert_eq!(links(machine, 1), expected);
}

#[test]
fn what_is_not_known_is_said() {
    let machine = Staged(vec![
        (1, 1, READ, 3, on(&[9])),
        (2, 2, READ, 3, Dependence::Unknown),
        (3, 3, READ, 3, Dependence::OtherUser),
    ]);
    assert_eq!(links(machine, 1), [(0, 1, 1, Some(End::Gone), false)]);
    let machine = Staged(vec![(2, 2, READ, 3, Dependence::Unknown)]);
    assert_eq!(links(machine, 2), [(0, 2, 1, Some(End::Unknown), false)]);
    assert_eq!(chain_of(&mut Staged(Vec::new()), 5), None);
}

/// However many processes wait for one another, a chain ends.
#[test]
fn chains_are_bounded() {
    for width in [1, 3, 200] {
        let machine = (1..=5000_u32).map(|pid| {
            let next: Vec<u32> = (pid * 3..pid * 3 + width).collect();
            (pid, pid, READ, 3, on(&next))
        });
        let links = links(Staged(machine.collect()), 1);
        assert!(links.len() <= MAX_LINKS + MAX_PROCESSES * MAX_DEPTH, "{}", links.len());
        assert!(links.iter().all(|link| link.0 <= MAX_DEPTH));
    }
}
