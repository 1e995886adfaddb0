//! What holds up the threads of a machine, seen in several looks.
//!
//! Counted are only waits that another task or machine should end soon: locks whose holder is known, readers that do not read, and answers
//! that are due. Whoever waits for work is not held up.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::now::{Activity, Awaited, Dependence, Object, ThreadNow, WaitSource};
use crate::linux::tcp_info::TcpInfo;
use crate::task::wait::{Wait, WaitReason};

/// An answer that is due for a shorter time is none that anything waits for, in milliseconds.
const LEAST_DUE_MS: u32 = 20;

/// What holds up threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// A lock at an address of a process.
    Lock {
        /// The process.
        pid: u32,
        /// The address.
        address: u64,
    },
    /// The lock of a file.
    FileLock {
        /// Its path.
        path: String,
        /// Who holds it.
        holder: u32,
    },
    /// A process that does not read what is sent to it.
    Reader {
        /// The process.
        pid: u32,
    },
    /// A process that owes answers.
    Server {
        /// The process.
        pid: u32,
    },
    /// Another machine that owes answers, or does not read.
    Remote {
        /// Its address.
        address: SocketAddr,
        /// It does not even acknowledge what was sent.
        is_silent: bool,
    },
}

/// What was seen of a hindrance.
#[derive(Clone, Debug)]
pub struct Holdup {
    /// What it is.
    pub hindrance: Hindrance,
    /// A thread that it held up.
    pub example: ThreadNow,
    /// The processes that it held up.
    pub pids: BTreeSet<u32>,
    /// In how many looks it was seen.
    pub looks: u32,
    /// Threads that it held up, added up over all looks.
    pub threads: u32,
    /// The threads that held a lock, each with how often that was seen.
    pub holders: BTreeMap<u32, u32>,
    /// What such a thread did meanwhile, with how often that was seen; `None` if it did not sleep.
    pub held_while: BTreeMap<Option<WaitReason>, u32>,
}

/// What holds up the threads of a machine.
#[derive(Debug, Default)]
pub struct HeldUp {
    /// How many looks there were.
    pub looks: u32,
    found: BTreeMap<Hindrance, Holdup>,
    /// Circles of threads, by their ids, and in how many looks each was seen.
    circles: BTreeMap<Vec<u32>, (u32, Vec<ThreadNow>)>,
}

impl HeldUp {
    /// Looks at processes. Returns those that something holds up.
    pub fn look(&mut self, source: &mut impl WaitSource, pids: &[u32]) -> Vec<u32> {
        self.looks += 1;
        let mut held_up = Vec::new();
        let mut holders: HashMap<u32, (u32, ThreadNow)> = HashMap::new();
        let mut seen: BTreeSet<Hindrance> = BTreeSet::new();
        for pid in pids {
            let Some(process) = source.process(*pid) else { continue };
            for thread in &process.threads {
                let Activity::Waits(wait) = thread.activity else { continue };
                if !can_be_held_up(wait) {
                    continue;
                }
                let awaited = source.awaited(thread);
                let Some(hindrance) = hindrance(thread, wait, &awaited) else { continue };
                if held_up.last() != Some(pid) {
                    held_up.push(*pid);
                }
                let found = self.found.entry(hindrance.clone()).or_insert_with(|| Holdup {
                    hindrance: hindrance.clone(),
                    example: thread.clone(),
                    pids: BTreeSet::new(),
                    looks: 0,
                    threads: 0,
                    holders: BTreeMap::new(),
                    held_while: BTreeMap::new(),
                });
                found.pids.insert(*pid);
                found.threads += 1;
                found.looks += u32::from(seen.insert(hindrance));
                if let Some(holder) = holding_thread(source, &awaited.on) {
                    *found.holders.entry(holder.tid).or_default() += 1;
                    let reason = match holder.activity {
                        Activity::Waits(wait) => Some(wait.reason),
                        _ => None,
                    };
                    *found.held_while.entry(reason).or_default() += 1;
                    holders.insert(thread.tid, (holder.tid, thread.clone()));
                }
            }
        }
        self.add_circles(&holders);
        held_up
    }

    /// Adds the circles among threads, each of which waits for one other.
    fn add_circles(&mut self, holders: &HashMap<u32, (u32, ThreadNow)>) {
        let mut in_circles = BTreeSet::new();
        for start in holders.keys() {
            let (mut path, mut at) = (Vec::new(), *start);
            while let Some((next, thread)) = holders.get(&at) {
                if let Some(place) = path.iter().position(|thread: &ThreadNow| thread.tid == at) {
                    let mut circle = path.split_off(place);
                    circle.sort_by_key(|thread| thread.tid);
                    in_circles.insert(circle.iter().map(|thread| thread.tid).collect::<Vec<u32>>());
                    let key = circle.iter().map(|thread| thread.tid).collect();
                    self.circles.entry(key).or_insert((0, circle));
                    break;
                }
                path.push(thread.clone());
                at = *next;
            }
        }
        for circle in in_circles {
            if let Some((looks, _)) = self.circles.get_mut(&circle) {
                *looks += 1;
            }
        }
    }

    /// Returns what was seen, what held up most threads first.
    pub fn holdups(&self) -> Vec<&Holdup> {
        let mut all: Vec<&Holdup> = self.found.values().collect();
        all.sort_by_key(|holdup| core::cmp::Reverse(holdup.threads));
        all
    }

    /// Returns the circles that were seen in each look: none of their threads goes on.
    pub fn deadlocks(&self) -> impl Iterator<Item = &[ThreadNow]> {
        let lasting = |(looks, _): &&(u32, Vec<ThreadNow>)| *looks == self.looks;
        self.circles.values().filter(lasting).map(|(_, threads)| threads.as_slice())
    }

    /// How many threads it held up on average over all looks.
    pub fn average(&self, holdup: &Holdup) -> f64 {
        f64::from(holdup.threads) / f64::from(self.looks.max(1))
    }
}

/// Returns whether a wait can be one that counts, before its object is looked for.
fn can_be_held_up(wait: Wait) -> bool {
    match wait.reason {
        WaitReason::Lock | WaitReason::FileLock => true,
        WaitReason::LocalSocket | WaitReason::RemoteSocket | WaitReason::Socket => true,
        WaitReason::Pipe => wait.call.is_some_and(|call| call.is_for_room()),
        _ => false,
    }
}

fn hindrance(thread: &ThreadNow, wait: Wait, awaited: &Awaited) -> Option<Hindrance> {
    let one = match &awaited.on {
        Dependence::Processes { pids, is_probable: false } => pids.first().copied(),
        _ => None,
    };
    let is_for_room = wait.call.is_some_and(|call| call.is_for_room());
    match &awaited.object {
        Object::Lock(address) => matches!(awaited.on, Dependence::Thread { .. })
            .then_some(Hindrance::Lock { pid: thread.pid, address: *address }),
        Object::File(path) if wait.reason == WaitReason::FileLock => {
            Some(Hindrance::FileLock { path: path.clone(), holder: one? })
        }
        Object::Pipe | Object::UnixSocket(_) if is_for_room => Some(Hindrance::Reader { pid: one? }),
        Object::Connection { remote, tcp: Some(tcp), .. } if is_for_room || is_due(tcp) => {
            Some(match (one, is_for_room) {
                (Some(pid), true) => Hindrance::Reader { pid },
                (Some(pid), false) => Hindrance::Server { pid },
                (None, _) if awaited.on == Dependence::None => {
                    Hindrance::Remote { address: *remote, is_silent: tcp.retransmits > 0 }
                }
                (None, _) => return None,
            })
        }
        _ => None,
    }
}

/// Returns whether an answer is due.
fn is_due(tcp: &TcpInfo) -> bool {
    tcp.is_unanswered() && tcp.last_sent_ms >= LEAST_DUE_MS
}

/// The thread that something depends on, if it is one.
fn holding_thread(source: &mut impl WaitSource, on: &Dependence) -> Option<ThreadNow> {
    match on {
        Dependence::Thread { pid, tid, .. } => {
            source.process(*pid)?.threads.into_iter().find(|thread| thread.tid == *tid)
        }
        Dependence::Processes { pids, .. } => match (&pids[..], pids.first()) {
            ([_], Some(pid)) => match &source.process(*pid)?.threads[..] {
                [only] => Some(only.clone()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::socket_tables::InetProtocol;
    use crate::linux::system_calls::Machine;
    use crate::task::chain::ProcessNow;
    use crate::task::wait::FileKind;

    /// Threads by process, and what each waits for.
    struct Staged(Vec<(ThreadNow, Awaited)>);

    impl Staged {
        fn add(&mut self, pid: u32, tid: u32, number: i32, awaited: Awaited) {
            let wait = Wait::of_call(Machine::X86_64, number, [3, 0, 0, 0], FileKind::LoopbackSocket);
            let activity = Activity::Waits(wait.unwrap());
            self.0.push((ThreadNow { tid, pid, comm: format!("p{pid}"), activity }, awaited));
        }
    }

    impl WaitSource for Staged {
        fn process(&mut self, pid: u32) -> Option<ProcessNow> {
            let threads = self.0.iter().filter(|(thread, _)| thread.pid == pid);
            Some(ProcessNow { pid, threads: threads.map(|(thread, _)| thread.clone()).collect() })
        }

        fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
            self.0.iter().find(|(other, _)| other == thread).unwrap().1.clone()
        }
    }

    fn lock(address: u64, tid: u32) -> Awaited {
        let on = Dependence::Thread { pid: 1, tid, is_probable: false };
        Awaited { object: Object::Lock(address), on }
    }

    #[test]
    fn locks_hold_threads_up() {
        let mut staged = Staged(Vec::new());
        (2..=16).for_each(|tid| staged.add(1, tid, 202, lock(0x70, 1)));
        staged.add(1, 1, 230, Awaited::NOTHING);
        // A condition, and the end of a thread.
        staged.add(1, 17, 202, Awaited { object: Object::None, on: Dependence::Unknown });
        let on = Dependence::Thread { pid: 1, tid: 1, is_probable: false };
        staged.add(1, 18, 202, Awaited { object: Object::ThreadEnd, on });
        let mut held_up = HeldUp::default();
        assert_eq!(held_up.look(&mut staged, &[1]), [1]);
        held_up.look(&mut staged, &[1]);
        let [holdup] = &held_up.holdups()[..] else { panic!("{held_up:?}") };
        assert_eq!(holdup.hindrance, Hindrance::Lock { pid: 1, address: 0x70 });
        assert_eq!((held_up.average(holdup), holdup.looks, holdup.holders[&1]), (15.0, 2, 30));
        assert_eq!(held_up.deadlocks().count(), 0);
    }

    #[test]
    fn a_circle_that_lasts_is_a_deadlock() {
        let circle = |holders: [u32; 3]| {
            let mut staged = Staged(Vec::new());
            for (tid, holder) in (1..).zip(holders) {
                staged.add(1, tid, 202, lock(u64::from(tid), holder));
            }
            staged
        };
        let mut held_up = HeldUp::default();
        // The third waits for one of the circle, and is in none.
        held_up.look(&mut circle([2, 1, 1]), &[1]);
        held_up.look(&mut circle([2, 1, 2]), &[1]);
        let deadlocks: Vec<Vec<u32>> =
            held_up.deadlocks().map(|threads| threads.iter().map(|thread| thread.tid).collect()).collect();
        assert_eq!(deadlocks, [[1, 2]]);
        held_up.look(&mut circle([3, 3, 9]), &[1]);
        assert_eq!(held_up.deadlocks().count(), 0);
    }

    #[test]
    fn answers_that_are_due_hold_up() {
        let mut tcp = vec![0; 232];
        let mut found = |last_sent_ms: u32, last_received_ms: u32, on: Dependence| {
            tcp[44..48].copy_from_slice(&last_sent_ms.to_ne_bytes());
            tcp[52..56].copy_from_slice(&last_received_ms.to_ne_bytes());
            tcp[156] = 1;
            let object = Object::Connection {
                protocol: InetProtocol::Tcp,
                remote: "192.0.2.1:80".parse().unwrap(),
                tcp: TcpInfo::parse(&tcp),
            };
            let mut staged = Staged(Vec::new());
            staged.add(1, 1, 45, Awaited { object, on });
            let mut held_up = HeldUp::default();
            held_up.look(&mut staged, &[1]);
            held_up.holdups().first().map(|holdup| holdup.hindrance.clone())
        };
        let server = || Dependence::Processes { pids: vec![7], is_probable: false };
        assert_eq!(found(500, 600, server()), Some(Hindrance::Server { pid: 7 }));
        let address = "192.0.2.1:80".parse().unwrap();
        let remote = Some(Hindrance::Remote { address, is_silent: false });
        assert_eq!(found(500, 600, Dependence::None), remote);
        // It was answered, or has just been asked; whose the other end is is not known.
        assert_eq!(found(600, 500, server()), None);
        assert_eq!(found(5, 600, server()), None);
        assert_eq!(found(500, 600, Dependence::Unknown), None);
    }
}
