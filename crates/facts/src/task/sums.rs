//! Tasks summed: by process, by user, by cgroup, by program.

use super::figure::{ABSENT, Figure};
use super::table::TaskTable;
use crate::rate::tasks::TaskChanges;

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

/// Rows that stand for several tasks. Kept from tick to tick.
#[derive(Clone, Debug, Default)]
pub struct TaskSums {
    /// Their figures summed; who they are is told of the first, a process's leader.
    pub table: TaskTable,
    /// Threads in each row.
    pub threads: Vec<u32>,
    /// Processes in each row.
    pub processes: Vec<u32>,
    /// What the parts of each add up to: the time that its threads lived, in nanoseconds.
    pub thread_time_ns: Vec<u64>,
    /// Whether all of a row's tasks have ended.
    pub is_ended: Vec<bool>,
    /// Whether any of a row's tasks did anything.
    pub is_active: Vec<bool>,
    order: Vec<Member>,
    ranges: Vec<(u32, u32)>,
    firsts: Vec<u32>,
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
    /// Fills from what tasks did.
    pub fn fill(&mut self, changes: &TaskChanges, by: GroupBy) {
        self.clear();
        let table = &changes.table;
        self.table.clock = table.clock;
        for index in 0..table.len() {
            let (tgid, is_ended) = (table.tgid(index), index >= changes.living);
            let (kind, group) = group(table, index, by, is_ended);
            self.order.push(Member::new(kind, group, tgid, table.pid(index) != tgid, index as u32));
        }
        if by == GroupBy::Process && changes.living < table.len() {
            self.send_ended_threads_home();
        }
        if !self.order.is_sorted() {
            self.order.sort();
        }
        self.find_ranges();
        self.describe(changes);
        let Self { table: sums, order, ranges, firsts, .. } = self;
        sums.gather_identities(table, firsts);
        // Most processes have one thread.
        let is_several = |(_, (start, end)): &(usize, (u32, u32))| end - start > 1;
        let several: Vec<_> = ranges.iter().copied().enumerate().filter(is_several).collect();
        for figure in Figure::all() {
            let (from, to) = (table.column(figure), sums.column_mut(figure));
            to.extend(firsts.iter().map(|first| from[*first as usize]));
            for (row, (start, end)) in &several {
                to[*row] = sum(figure, from, &order[*start as usize..*end as usize]);
            }
        }
    }

    /// Everything but the figures.
    fn describe(&mut self, changes: &TaskChanges) {
        let mut did_anything = vec![false; changes.table.len()];
        for index in &changes.active {
            did_anything[*index as usize] = true;
        }
        for (start, end) in &self.ranges {
            let members = &self.order[*start as usize..*end as usize];
            let indices = || members.iter().map(|member| member.index as usize);
            self.firsts.push(members[0].index);
            self.threads.push(members.len() as u32);
            let starts = |at: &usize| *at == 0 || members[at - 1].tgid() != members[*at].tgid();
            self.processes.push((0..members.len()).filter(starts).count() as u32);
            self.thread_time_ns.push(indices().map(|index| changes.wall_ns[index]).sum());
            self.is_ended.push(indices().all(|index| index >= changes.living));
            self.is_active.push(indices().any(|index| did_anything[index]));
        }
    }

    fn clear(&mut self) {
        self.table.clear();
        self.threads.clear();
        self.processes.clear();
        self.thread_time_ns.clear();
        self.is_ended.clear();
        self.is_active.clear();
        self.order.clear();
        self.ranges.clear();
        self.firsts.clear();
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

fn group(table: &TaskTable, index: usize, by: GroupBy, is_ended: bool) -> (u8, u64) {
    match by {
        GroupBy::Thread => (u8::from(is_ended), index as u64),
        GroupBy::Process if is_ended => (ENDED, hash(&table.comm(index).0, table.uid(index))),
        GroupBy::Process => (LIVING, u64::from(table.tgid(index))),
        GroupBy::User => (LIVING, table.uid(index).map_or(ABSENT, u64::from)),
        GroupBy::Cgroup => (LIVING, table.cgroup(index).unwrap_or(ABSENT)),
    }
}

/// FNV-1a: names and users of one value are the same, for all that a machine will see.
fn hash(name: &[u8; 16], uid: Option<u32>) -> u64 {
    let uid = uid.unwrap_or(u32::MAX).to_ne_bytes();
    name.iter().chain(&uid).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What one member lacks the sum lacks, too; what a process has once is taken of its first thread.
fn sum(figure: Figure, column: &[u64], members: &[Member]) -> u64 {
    let mut sum = 0_u64;
    let mut tgid = None;
    for member in members {
        if figure.is_of_process() && tgid.replace(member.tgid()) == Some(member.tgid()) {
            continue;
        }
        let value = column[member.index as usize];
        match (value, figure.is_maximum()) {
            // A maximum is told where it is new, and of several the longest.
            (ABSENT, true) => {}
            (ABSENT, false) => return ABSENT,
            (value, true) => sum = sum.max(value),
            (value, false) => sum = sum.saturating_add(value),
        }
    }
    if figure.is_maximum() && sum == 0 { ABSENT } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::tasks::Ended;
    use crate::sample::Clock;
    use crate::task::TaskKey;
    use crate::task::table::{Comm, TaskRow};
    use crate::unit::Nanos;

    fn at(seconds: u64) -> Clock {
        let nanos = Nanos(seconds * Nanos::SECOND.0);
        Clock { monotonic: nanos, boottime: nanos, realtime: nanos }
    }

    fn row(pid: u32, tgid: u32, uid: u32, comm: &str, on_cpu: u64) -> TaskRow {
        let mut row = TaskRow {
            key: TaskKey { pid, start: Nanos(1) },
            tgid: Some(tgid),
            uid: Some(uid),
            comm: Comm::new(comm.as_bytes()),
            ..TaskRow::default()
        };
        row.figures.set(Figure::ON_CPU, Some(on_cpu));
        row.figures.set(Figure::RESIDENT_BYTES, Some(100));
        row
    }

    /// Name, threads, processes, time on a CPU, memory.
    type Told = (String, u32, u32, Option<u64>, Option<u64>);

    fn sums(by: GroupBy) -> Vec<Told> {
        let tables = [at(100), at(101)].map(|clock| {
            let mut table = TaskTable::default();
            table.clock = clock;
            let used = clock.boottime.0 / Nanos::SECOND.0 - 100;
            for (pid, tgid, uid, comm) in [(12, 10, 0, "b"), (10, 10, 0, "a"), (20, 20, 5, "c")] {
                table.push(&row(pid, tgid, uid, comm, used));
            }
            table
        });
        // A thread of 10, and two processes of one name.
        let born = |pid, tgid, comm| {
            let mut row = row(pid, tgid, 5, comm, 3);
            row.key.start = Nanos(100 * Nanos::SECOND.0);
            row.figures.set(Figure::RESIDENT_BYTES, Some(0));
            Ended { row, wall: Nanos(9) }
        };
        let mut ended = vec![born(13, 10, "b"), born(30, 30, "true"), born(31, 31, "true")];
        let mut changes = TaskChanges::default();
        changes.fill(&tables[0], &tables[1], &mut ended);
        let mut sums = TaskSums::default();
        sums.fill(&changes, by);
        (0..sums.table.len())
            .map(|index| {
                let name = sums.table.comm(index).as_str().to_owned();
                let figure = |figure| sums.table.get(index, figure);
                let (on_cpu, resident) = (figure(Figure::ON_CPU), figure(Figure::RESIDENT_BYTES));
                (name, sums.threads[index], sums.processes[index], on_cpu, resident)
            })
            .collect()
    }

    #[test]
    fn a_process_is_its_threads_the_ended_included() {
        let expected = [
            ("a".to_owned(), 3, 1, Some(5), Some(100)),
            ("c".to_owned(), 1, 1, Some(1), Some(100)),
            ("true".to_owned(), 2, 2, Some(6), Some(0)),
        ];
        assert_eq!(sums(GroupBy::Process), expected);
    }

    #[test]
    fn a_user_is_all_processes() {
        let users = sums(GroupBy::User);
        let counts: Vec<_> = users.iter().map(|user| (user.1, user.2, user.3, user.4)).collect();
        // The ended thread says user 5, as its record did.
        assert_eq!(counts, [(2, 1, Some(2), Some(100)), (4, 4, Some(10), Some(100))]);
    }

    #[test]
    fn threads_stay_apart() {
        assert_eq!(sums(GroupBy::Thread).len(), 6);
    }
}
