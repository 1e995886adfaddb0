//! What holds up the threads of a machine, seen in several looks.
//!
//! Counted are only waits that another task or machine should end soon: locks whose holder is known, readers that do not read, and answers
//! that are due. A thread that waits for work is not held up.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::hindrance::{CountedWait, Hindrance, can_be_held_up, counted_wait, question};
use super::now::{Activity, Awaited, Dependence, Object, ThreadNow, WaitSource};
use crate::linux::tcp_info::Question;
use crate::task::wait::WaitReason;

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
    /// Several processes can be the one; it is the only one of them that has something to do.
    pub is_probable: bool,
    /// One of the threads asked again between two looks: it is answered, only late.
    pub is_asked_again: bool,
    /// When the first of those that wait for an answer asked, in milliseconds before the last look.
    pub asked_ms: u32,
}

/// What holds up the threads of a machine.
#[derive(Debug, Default)]
pub struct HeldUp {
    /// How many looks there were.
    pub looks: u32,
    found: BTreeMap<Hindrance, Holdup>,
    /// Circles of threads, by their ids, and in how many looks each was seen.
    circles: BTreeMap<Vec<u32>, (u32, Vec<ThreadNow>)>,
    /// The number of segments that each thread's connection had sent at the last look.
    sent: HashMap<u32, u32>,
}

impl HeldUp {
    /// Looks at processes. Returns those that something holds up, or may hold up.
    pub fn look(&mut self, source: &mut impl WaitSource, pids: &[u32]) -> Vec<u32> {
        self.looks += 1;
        let mut held_up = BTreeSet::new();
        let mut holders: HashMap<u32, (u32, ThreadNow)> = HashMap::default();
        let mut seen: BTreeSet<Hindrance> = BTreeSet::new();
        for pid in pids {
            let Some(process) = source.process(*pid) else { continue };
            for thread in &process.threads {
                let Activity::Waits(wait) = thread.activity else { continue };
                if !can_be_held_up(wait) {
                    continue;
                }
                let awaited = source.awaited(thread);
                let has_asked_again = self.has_asked_again(thread, &awaited);
                let question = question(&awaited, wait, has_asked_again);
                if question != Question::None {
                    held_up.insert(*pid);
                }
                if question != Question::Unanswered {
                    continue;
                }
                let Some(counted) = counted_wait(source, thread, &awaited) else { continue };
                let is_new = seen.insert(counted.hindrance.clone());
                let can_be_circle = !matches!(counted.hindrance, Hindrance::Server { .. });
                let found = self.found(thread, counted);
                found.pids.insert(*pid);
                found.threads += 1;
                found.looks += u32::from(is_new);
                found.is_asked_again |= has_asked_again;
                if let Some(holder) = holding_thread(source, &awaited.on) {
                    found.hold(&holder);
                    if can_be_circle {
                        holders.insert(thread.tid, (holder.tid, thread.clone()));
                    }
                }
            }
        }
        self.add_circles(&holders);
        held_up.into_iter().collect()
    }

    fn found(&mut self, thread: &ThreadNow, counted: CountedWait) -> &mut Holdup {
        let CountedWait { hindrance, is_probable, asked_ms } = counted;
        let found = self.found.entry(hindrance.clone()).or_insert_with(|| Holdup {
            hindrance,
            example: thread.clone(),
            pids: BTreeSet::new(),
            looks: 0,
            threads: 0,
            holders: BTreeMap::new(),
            held_while: BTreeMap::new(),
            is_probable,
            is_asked_again: false,
            asked_ms,
        });
        found.is_probable |= is_probable;
        found.asked_ms = found.asked_ms.max(asked_ms);
        found
    }

    /// Returns whether a thread waits for an answer on a connection on which it has sent since the last look.
    fn has_asked_again(&mut self, thread: &ThreadNow, awaited: &Awaited) -> bool {
        let Object::Connection { tcp: Some(tcp), .. } = &awaited.object else { return false };
        let Some(segments) = tcp.data_segments else { return false };
        self.sent.insert(thread.tid, segments.sent).is_some_and(|before| before != segments.sent)
    }

    /// Adds the circles among threads. Each of them waits for one other.
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

impl Holdup {
    fn hold(&mut self, holder: &ThreadNow) {
        *self.holders.entry(holder.tid).or_default() += 1;
        let reason = match holder.activity {
            Activity::Waits(wait) => Some(wait.reason),
            _ => None,
        };
        *self.held_while.entry(reason).or_default() += 1;
    }

    /// What the thread that held it did most often meanwhile, and how often; `None` in it if it did not sleep.
    pub fn mostly_held_while(&self) -> Option<(Option<WaitReason>, u32)> {
        let most = self.held_while.iter().max_by_key(|(_, times)| **times);
        most.map(|(reason, times)| (*reason, *times))
    }
}

/// The thread that something depends on, if it is one.
fn holding_thread(source: &mut impl WaitSource, on: &Dependence) -> Option<ThreadNow> {
    match on {
        Dependence::Thread { pid, tid, .. } => {
            source.process(*pid)?.threads.iter().find(|thread| thread.tid == *tid).cloned()
        }
        Dependence::Processes { pids, .. } => match pids[..] {
            [pid] => match &source.process(pid)?.threads[..] {
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
    use std::rc::Rc;

    use super::*;
    use crate::linux::socket_tables::InetProtocol;
    use crate::linux::system_calls::Machine;
    use crate::linux::tcp_info::TcpInfo;
    use crate::task::chain::ProcessNow;
    use crate::task::wait::{FileKind, Wait};

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
        fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
            let threads = self.0.iter().filter(|(thread, _)| thread.pid == pid);
            let threads = threads.map(|(thread, _)| thread.clone()).collect();
            Some(Rc::new(ProcessNow { pid, threads }))
        }

        fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
            self.0.iter().find(|(other, _)| other == thread).unwrap().1.clone()
        }
    }

    fn lock(address: u64, tid: u32) -> Awaited {
        let on = Dependence::Thread { pid: 1, tid, is_probable: false };
        Awaited::new(Object::Lock(address), on)
    }

    #[test]
    fn locks_hold_threads_up() {
        let mut staged = Staged(Vec::new());
        (2..=16).for_each(|tid| staged.add(1, tid, 202, lock(0x70, 1)));
        staged.add(1, 1, 230, Awaited::NOTHING);
        // A condition, and the end of a thread.
        staged.add(1, 17, 202, Awaited::UNKNOWN);
        let on = Dependence::Thread { pid: 1, tid: 1, is_probable: false };
        staged.add(1, 18, 202, Awaited::new(Object::ThreadEnd, on));
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

    /// A thread that waits for data on a connection: what was seen in two looks.
    fn found(
        [last_sent_ms, last_received_ms]: [u32; 2],
        sent: [u32; 2],
        is_made_here: bool,
        on: &Dependence,
    ) -> Option<Hindrance> {
        let mut held_up = HeldUp::default();
        for sent in sent {
            let mut tcp = vec![0; 232];
            for (at, value) in [(44, last_sent_ms), (52, last_received_ms), (152, 3), (156, sent)] {
                tcp[at..at + 4].copy_from_slice(&value.to_ne_bytes());
            }
            let remote = "192.0.2.1:80".parse().unwrap();
            let (protocol, tcp) = (InetProtocol::Tcp, TcpInfo::parse(&tcp));
            let object = Object::Connection { protocol, remote, is_made_here, tcp };
            let mut staged = Staged(Vec::new());
            staged.add(1, 1, 45, Awaited::new(object, on.clone()));
            held_up.look(&mut staged, &[1]);
        }
        held_up.holdups().first().map(|holdup| holdup.hindrance.clone())
    }

    #[test]
    fn answers_that_are_due_hold_up() {
        let server = Dependence::Processes { pids: vec![7], is_probable: false };
        let is_served = Some(Hindrance::Server { pid: 7 });
        assert_eq!(found([500, 600], [3, 3], true, &server), is_served);
        let address = "192.0.2.1:80".parse().unwrap();
        let remote = Some(Hindrance::Remote { address, is_reader: false, is_silent: false });
        assert_eq!(found([500, 600], [3, 3], true, &Dependence::None), remote);
        // It was answered, or has just been asked; the other end asks; whose that is is not known.
        assert_eq!(found([600, 500], [3, 3], true, &server), None);
        assert_eq!(found([5, 600], [3, 3], true, &server), None);
        assert_eq!(found([500, 600], [3, 3], false, &server), None);
        assert_eq!(found([500, 600], [3, 3], true, &Dependence::Unknown), None);
        // Both were in one step of the clock: who asks again was answered.
        assert_eq!(found([40, 40], [3, 3], true, &server), None);
        assert_eq!(found([40, 40], [3, 4], true, &server), is_served);
    }
}
