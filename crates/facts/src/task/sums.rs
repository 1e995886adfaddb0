//! Tasks summed: by process, by user, by cgroup, by program.

mod summed;

use super::figure::ABSENT;
use crate::rate::tasks::Changed;

pub use summed::Summed;

/// What makes tasks one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// Nothing: each thread is a row.
    Thread,
    /// Their process. Processes that ended are one row for each name and user.
    #[default]
    Process,
    /// Their user.
    User,
    /// Their cgroup.
    Cgroup,
}

/// Whether a process, or a thread where each is a row, is to be counted; asked with its first task's place.
pub type Choice<'a> = &'a mut dyn FnMut(Changed<'_>, usize) -> bool;

/// Which tasks make which row. Kept from tick to tick; [`Self::of`] adds up what is asked for.
#[derive(Clone, Debug, Default)]
pub struct TaskSums {
    order: Vec<Member>,
    ranges: Vec<(u32, u32)>,
    by: GroupBy,
}

/// A task, sorted by its row, there by its process, and there the leader first: all in one number, which compares quickly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    place: u128,
    index: u32,
}

impl Member {
    const KIND_SHIFT: u32 = 120;
    const GROUP_SHIFT: u32 = 56;
    const TGID_SHIFT: u32 = 24;

    fn new(kind: u8, group: u64, tgid: u32, is_follower: bool, index: u32) -> Self {
        let place = u128::from(kind) << Self::KIND_SHIFT
            | u128::from(group) << Self::GROUP_SHIFT
            | u128::from(tgid) << Self::TGID_SHIFT
            | u128::from(is_follower);
        Self { place, index }
    }

    /// What all tasks of a row have in common.
    fn group(self) -> u128 {
        self.place >> Self::GROUP_SHIFT
    }

    fn kind(self) -> u8 {
        (self.place >> Self::KIND_SHIFT) as u8
    }

    fn tgid(self) -> u32 {
        (self.place >> Self::TGID_SHIFT) as u32
    }

    fn is_follower(self) -> bool {
        self.place & 1 == 1
    }
}

impl TaskSums {
    /// Groups what tasks did: of all, or of those that are chosen.
    pub fn fill(&mut self, tasks: Changed<'_>, by: GroupBy, choice: Option<Choice<'_>>) {
        self.order.clear();
        self.ranges.clear();
        self.by = by;
        for index in 0..tasks.len() {
            let (kind, group) = group(tasks, index, by);
            let tgid = tasks.tgid(index);
            self.order.push(Member::new(kind, group, tgid, tasks.pid(index) != tgid, index as u32));
        }
        // The ended stand last.
        if by == GroupBy::Process && tasks.len().checked_sub(1).is_some_and(|last| tasks.is_ended(last)) {
            self.send_ended_threads_home();
        }
        if !self.order.is_sorted() {
            self.order.sort();
        }
        if let Some(is_chosen) = choice {
            let mut last = None;
            self.order.retain(|member| {
                let of = (member.group(), member.tgid());
                match last {
                    Some((same, is_taken)) if same == of => is_taken,
                    _ => last.insert((of, is_chosen(tasks, member.index as usize))).1,
                }
            });
        }
        self.find_ranges();
    }

    /// The rows, with the tasks that it was filled from.
    pub fn of<'a>(&'a self, tasks: Changed<'a>) -> Summed<'a> {
        Summed { sums: self, tasks }
    }

    /// A thread that ended belongs to its process, if that lives. Of a leader that ended the number may be somebody else's by
    /// now.
    fn send_ended_threads_home(&mut self) {
        let of_kind = |kind: u8| move |member: &&Member| member.kind() == kind;
        let mut living: Vec<u32> =
            self.order.iter().filter(of_kind(LIVING)).map(|member| member.tgid()).collect();
        living.sort_unstable();
        for member in self.order.iter_mut().filter(|member| member.kind() == ENDED && member.is_follower()) {
            let tgid = member.tgid();
            if living.binary_search(&tgid).is_ok() {
                *member = Member::new(LIVING, u64::from(tgid), tgid, true, member.index);
            }
        }
    }

    fn find_ranges(&mut self) {
        let mut start = 0;
        for end in 1..=self.order.len() {
            if end == self.order.len() || self.order[end].group() != self.order[start].group() {
                self.ranges.push((start as u32, end as u32));
                start = end;
            }
        }
    }
}

const LIVING: u8 = 0;
const ENDED: u8 = 1;

fn group(tasks: Changed<'_>, index: usize, by: GroupBy) -> (u8, u64) {
    let is_ended = tasks.is_ended(index);
    match by {
        GroupBy::Thread => (u8::from(is_ended), index as u64),
        GroupBy::Process if is_ended => (ENDED, hash(&tasks.comm(index).0, tasks.uid(index))),
        GroupBy::Process => (LIVING, u64::from(tasks.tgid(index))),
        GroupBy::User => (LIVING, tasks.uid(index).map_or(ABSENT, u64::from)),
        GroupBy::Cgroup => (LIVING, tasks.cgroup(index).unwrap_or(ABSENT)),
    }
}

/// FNV-1a: names and users of one value are the same, for all that a machine will see.
fn hash(name: &[u8; 16], uid: Option<u32>) -> u64 {
    let uid = uid.unwrap_or(u32::MAX).to_ne_bytes();
    name.iter().chain(&uid).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
