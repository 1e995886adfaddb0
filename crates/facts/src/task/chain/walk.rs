//! Follows waits from process to process.

use std::rc::Rc;

use foldhash::HashSet;

use super::now::{Activity, Awaited, Dependence, ProcessNow, ThreadNow, WaitSource};
use crate::task::wait::WaitTarget;

/// The most links of a chain.
const MAX_LINKS: usize = 64;
/// The most links one below the other.
const MAX_DEPTH: usize = 16;
/// The most groups of threads of the first process, of another one, and processes that one wait can depend on, which are followed.
const MAX_FIRST: usize = 8;
const MAX_GROUPS: usize = 2;
const MAX_PROCESSES: usize = 3;

/// Waits as a tree: each link stands before those that it waits for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// The links.
    pub links: Vec<Link>,
}

/// Threads of a process that do the same, and what they wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// How many links are above it.
    pub depth: usize,
    /// The first of the threads.
    pub thread: ThreadNow,
    /// How many they are.
    pub threads: usize,
    /// What it waits for.
    pub awaited: Awaited,
    /// Why nothing follows it.
    pub end: Option<End>,
    /// That the link above waits for it is probable, and was not seen.
    pub is_probable: bool,
    /// Other processes for which the link above may wait as well, and that do not follow: said of the last that follows.
    pub others: usize,
}

/// Why a chain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The link explains itself.
    Explained,
    /// It waits, by way of others, for itself.
    Circle,
    /// It was said above.
    Above,
    /// Whom it waits for is not known.
    Unknown,
    /// Whom it waits for may not be looked at: mostly it is another user's.
    OtherUser,
    /// What it waits for is gone by now.
    Gone,
    /// The chain has too many links.
    TooLong,
}

/// Follows the waits of a process. `None` if it is gone.
pub fn chain_of(source: &mut impl WaitSource, pid: u32) -> Option<Chain> {
    let process = source.process(pid)?;
    let mut walk = Walk { source, chain: Chain::default(), path: Vec::new(), seen: HashSet::default() };
    for group in groups(&process).into_iter().take(MAX_FIRST) {
        // What is in the chain of another group is said.
        if !group.tids.iter().all(|tid| walk.seen.contains(tid)) {
            walk.follow(group, false);
        }
    }
    Some(walk.chain)
}

/// Threads of a process that do the same.
struct Group {
    first: ThreadNow,
    tids: Vec<u32>,
}

impl Group {
    fn of(thread: &ThreadNow) -> Self {
        Self { first: thread.clone(), tids: vec![thread.tid] }
    }

    fn is_idle(&self) -> bool {
        self.first.is_idle()
    }
}

/// Groups threads by what they do: those that run, then those that need something, those of most threads first, then idle ones.
fn groups(process: &ProcessNow) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for thread in &process.threads {
        match groups.iter_mut().find(|group| is_same(&group.first.activity, &thread.activity)) {
            Some(group) => group.tids.push(thread.tid),
            None => groups.push(Group::of(thread)),
        }
    }
    let rank = |group: &Group| match group.first.activity {
        Activity::Runs => 0,
        Activity::Ended => 3,
        _ => 1 + u8::from(group.is_idle()),
    };
    groups.sort_by_key(|group| (rank(group), core::cmp::Reverse(group.tids.len()), group.first.tid));
    groups
}

/// Returns whether two threads do the same. What has no object, a child or a point in time, is each thread's own.
fn is_same(one: &Activity, other: &Activity) -> bool {
    match (one, other) {
        (Activity::Waits(one), Activity::Waits(other)) => {
            one.reason == other.reason
                && one.target == other.target
                && (one.target != WaitTarget::None || one.reason.is_idle() || one.call == other.call)
        }
        (one, other) => one == other,
    }
}

struct Walk<'s, S> {
    source: &'s mut S,
    chain: Chain,
    /// The threads above, group by group.
    path: Vec<Vec<u32>>,
    /// All threads that were said.
    seen: HashSet<u32>,
}

impl<S: WaitSource> Walk<'_, S> {
    /// Adds a group of threads, and what follows.
    fn follow(&mut self, group: Group, is_probable: bool) {
        let depth = self.path.len();
        let mut end = None;
        if self.is_above(&group) {
            end = Some(End::Circle);
        } else if group.tids.iter().all(|tid| self.seen.contains(tid)) {
            end = Some(End::Above);
        } else if depth >= MAX_DEPTH || self.chain.links.len() >= MAX_LINKS {
            end = Some(End::TooLong);
        }
        let awaited = match end {
            None | Some(End::TooLong) => self.source.awaited(&group.first),
            Some(_) => Awaited::NOTHING,
        };
        let place = self.chain.links.len();
        let threads = group.tids.len();
        self.chain.links.push(Link {
            depth,
            thread: group.first,
            threads,
            awaited: awaited.clone(),
            end,
            is_probable,
            others: 0,
        });
        if end.is_none() {
            self.seen.extend(&group.tids);
            self.path.push(group.tids);
            self.chain.links[place].end = self.follow_dependence(awaited.on);
            self.path.pop();
        }
    }

    /// Adds what follows. Returns why nothing does.
    fn follow_dependence(&mut self, on: Dependence) -> Option<End> {
        match on {
            Dependence::None => Some(End::Explained),
            Dependence::Unknown => Some(End::Unknown),
            Dependence::OtherUser => Some(End::OtherUser),
            Dependence::Thread { pid, tid, is_probable } => {
                let process = self.source.process(pid);
                let thread =
                    process.iter().flat_map(|process| &process.threads).find(|thread| thread.tid == tid);
                let Some(thread) = thread else { return Some(End::Gone) };
                self.follow(Group::of(thread), is_probable);
                None
            }
            Dependence::Processes { pids, is_probable } => {
                let before = self.chain.links.len();
                let mut processes: Vec<Rc<ProcessNow>> =
                    pids.iter().filter_map(|pid| self.source.process(*pid)).collect();
                // Who runs, or needs something, is more likely what it waits for than who waits for events.
                processes.sort_by_cached_key(|process| rank(process));
                let others = processes.len().saturating_sub(MAX_PROCESSES);
                let is_probable = is_probable || processes.len() > 1;
                let mut last = before;
                for process in processes.into_iter().take(MAX_PROCESSES) {
                    last = self.chain.links.len();
                    self.follow_process(&process, is_probable);
                }
                if let Some(last) = self.chain.links.get_mut(last) {
                    last.others = others;
                }
                (self.chain.links.len() == before).then_some(End::Gone)
            }
        }
    }

    /// Returns whether all of these threads are above.
    fn is_above(&self, group: &Group) -> bool {
        group.tids.iter().all(|tid| self.path.iter().flatten().any(|above| above == tid))
    }

    /// Adds the threads of a process that can be what is waited for: those that run, otherwise those that need something, otherwise an idle
    /// one.
    fn follow_process(&mut self, process: &ProcessNow, is_probable: bool) {
        let mut all = groups(process);
        // A process that waits for itself waits for its other threads, if it has some.
        let count_before = all.len();
        if !all.iter().all(|group| self.is_above(group)) {
            all.retain(|group| !self.is_above(group));
        }
        let needy = all.iter().filter(|group| !group.is_idle()).count();
        let has_running = all.first().is_some_and(|group| group.first.activity == Activity::Runs);
        let count = match needy {
            0 => 1,
            _ if has_running => 1,
            needy => needy.min(MAX_GROUPS),
        };
        // Which of several threads it is was not seen.
        let is_probable = is_probable || count_before > 1;
        for group in all.into_iter().take(count) {
            self.follow(group, is_probable);
        }
    }
}

/// The place of a process among those that can be waited for.
fn rank(process: &ProcessNow) -> u8 {
    let runs = process.threads.iter().any(|thread| thread.activity == Activity::Runs);
    let needs = groups(process).first().is_some_and(|group| !group.is_idle());
    if runs { 0 } else { 2 - u8::from(needs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::system_calls::Machine;
    use crate::task::chain::Object;
    use crate::task::wait::{FileKind, Wait};

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
                            let arguments = [*argument, 0, 0, 0];
                            let wait = Wait::of_call(Machine::X86_64, *call, arguments, FileKind::Pipe);
                            Activity::Waits(wait.unwrap())
                        }
                    },
                })
                .collect();
            (!threads.is_empty()).then(|| Rc::new(ProcessNow { pid, threads }))
        }

        fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
            let on = self.0.iter().find(|row| row.0 == thread.tid).map(|row| row.4.clone());
            Awaited::new(Object::None, on.unwrap_or(Dependence::Unknown))
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

    #[test]
    fn a_chain_ends_at_what_explains_itself() {
        let machine = Staged(vec![
            (1, 1, READ, 3, on(&[2])),
            (2, 2, EPOLL, 4, on(&[3])),
            (3, 3, -9, 0, Dependence::None),
        ]);
        let expected =
            [(0, 1, 1, None, false), (1, 2, 1, None, false), (2, 3, 1, Some(End::Explained), false)];
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
}
