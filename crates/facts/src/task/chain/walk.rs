//! Follows waits from process to process.

use std::rc::Rc;

use foldhash::HashSet;

use super::now::{Activity, Awaited, Dependence, Object, ProcessNow, ThreadNow, WaitSource};
use crate::task::wait::{Wait, WaitReason, WaitTarget};

/// The most links of a chain.
const MAX_LINKS: usize = 64;
/// The most links one below the other.
const MAX_DEPTH: usize = 16;
/// The most groups of threads of the first process, of another one, and processes that one wait can depend on, which are followed.
const MAX_FIRST: usize = 8;
const MAX_GROUPS: usize = 2;
const MAX_PROCESSES: usize = 3;
/// The most groups of threads that are asked whether they serve clients.
const MAX_SERVING: usize = 1000;

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
    for group in walk.groups_of(&process).into_iter().take(MAX_FIRST) {
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
    /// They wait for a client's next request, on a connection that was accepted, while other threads do something else: those have to do with
    /// who waits for the process.
    is_serving: bool,
}

impl Group {
    fn of(thread: &ThreadNow) -> Self {
        Self { first: thread.clone(), tids: vec![thread.tid], is_serving: false }
    }

    fn is_idle(&self) -> bool {
        self.is_serving || self.first.is_idle()
    }

    /// Returns whether the threads wait for events of descriptors that are not known yet.
    fn is_of_events(&self) -> bool {
        matches!(self.first.activity, Activity::Waits(wait) if is_of_events(wait))
    }
}

fn is_of_events(wait: Wait) -> bool {
    wait.reason == WaitReason::Events && wait.target == WaitTarget::None
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

/// Returns whether two threads do the same. What has no object, a child or a point in time, is each thread's own; what the events are of for
/// which a thread waits, its activity does not say.
fn is_same(one: &Activity, other: &Activity) -> bool {
    match (one, other) {
        (Activity::Waits(one), Activity::Waits(other)) => {
            one.reason == other.reason
                && one.target == other.target
                && !is_of_events(*one)
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
    /// Groups the threads of a process, those last that serve others.
    fn groups_of(&mut self, process: &ProcessNow) -> Vec<Group> {
        let mut merged: Vec<Group> = Vec::new();
        let mut of_events: Vec<(Awaited, usize)> = Vec::new();
        for group in groups(process) {
            if !group.is_of_events() {
                merged.push(group);
                continue;
            }
            // Which of more threads wait for the same is not looked at: they have nothing to do.
            let awaited = match of_events.len() < MAX_LINKS {
                true => self.source.awaited(&group.first),
                false => Awaited::NOTHING,
            };
            match of_events.iter().find(|(known, _)| *known == awaited) {
                Some((_, place)) => merged[*place].tids.extend(group.tids),
                None => {
                    of_events.push((awaited, merged.len()));
                    merged.push(group);
                }
            }
        }
        for group in merged.iter_mut().take(MAX_SERVING) {
            let is_data = matches!(group.first.activity, Activity::Waits(wait)
                if matches!(wait.reason, WaitReason::LocalSocket | WaitReason::RemoteSocket | WaitReason::Socket));
            group.is_serving = is_data && self.is_serving(&group.first);
        }
        let has_others =
            merged.iter().any(|group| !group.is_serving && group.first.activity != Activity::Ended);
        merged.iter_mut().for_each(|group| group.is_serving &= has_others);
        let (serving, mut ordered): (Vec<Group>, Vec<Group>) =
            merged.into_iter().partition(|group| group.is_serving);
        ordered.extend(serving);
        ordered
    }

    /// Returns whether a thread waits for data on a connection that was accepted.
    fn is_serving(&mut self, thread: &ThreadNow) -> bool {
        let awaited = self.source.awaited(thread);
        matches!(awaited.object, Object::Connection { is_made_here: false, .. }) && !awaited.is_for_room
    }

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
        let mut all = self.groups_of(process);
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
mod tests;
