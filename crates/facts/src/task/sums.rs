//! Tasks summed: by process, by user, by cgroup, by program.

use super::figure::{ABSENT, Figure};
use super::table::Comm;
use super::{Accounting, TaskKey};
use crate::rate::Interval;
use crate::rate::tasks::Changed;
use crate::unit::Nanos;

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
    /// Threads in each row.
    threads: Vec<u32>,
    /// Processes in each row.
    processes: Vec<u32>,
    thread_time_ns: Vec<u64>,
    is_ended: Vec<bool>,
    is_active: Vec<bool>,
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
        self.clear();
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
        self.describe(tasks);
    }

    /// The rows, with the tasks that it was filled from.
    pub fn of<'a>(&'a self, tasks: Changed<'a>) -> Summed<'a> {
        Summed { sums: self, tasks }
    }

    /// Everything but the figures.
    fn describe(&mut self, tasks: Changed<'_>) {
        for (start, end) in &self.ranges {
            let members = &self.order[*start as usize..*end as usize];
            let indices = || members.iter().map(|member| member.index as usize);
            self.threads.push(members.len() as u32);
            let starts = |at: &usize| *at == 0 || members[at - 1].tgid() != members[*at].tgid();
            self.processes.push((0..members.len()).filter(starts).count() as u32);
            self.thread_time_ns.push(indices().map(|index| tasks.wall_ns(index)).sum());
            self.is_ended.push(indices().all(|index| tasks.is_ended(index)));
            self.is_active.push(indices().any(|index| tasks.is_active(index)));
        }
    }

    fn clear(&mut self) {
        self.threads.clear();
        self.processes.clear();
        self.thread_time_ns.clear();
        self.is_ended.clear();
        self.is_active.clear();
        self.order.clear();
        self.ranges.clear();
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

/// Rows that stand for several tasks. Who they are is told of the first, a process's leader; figures are added up when they
/// are asked for, since a view looks at few of them.
#[derive(Clone, Copy, Debug)]
pub struct Summed<'a> {
    sums: &'a TaskSums,
    tasks: Changed<'a>,
}

impl<'a> Summed<'a> {
    /// Rows.
    pub fn len(&self) -> usize {
        self.sums.ranges.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time in which it was done; none after a first reading or across a suspend.
    pub fn interval(&self) -> Option<Interval> {
        self.tasks.interval()
    }

    /// Threads in a row.
    pub fn threads(&self, row: usize) -> u32 {
        self.sums.threads[row]
    }

    /// Processes in a row.
    pub fn processes(&self, row: usize) -> u32 {
        self.sums.processes[row]
    }

    /// What a row's parts add up to: the time that its threads lived.
    pub fn thread_time(&self, row: usize) -> Nanos {
        Nanos(self.sums.thread_time_ns[row])
    }

    /// Whether all of a row's tasks have ended.
    pub fn is_ended(&self, row: usize) -> bool {
        self.sums.is_ended[row]
    }

    /// Whether any of a row's tasks did anything.
    pub fn is_active(&self, row: usize) -> bool {
        self.sums.is_active[row]
    }

    /// The place of a row's first task among all.
    pub fn first(&self, row: usize) -> usize {
        self.members(row)[0].index as usize
    }

    /// Whether a row stands for several processes, so that what each has of its own is no row's.
    pub fn is_several(&self, row: usize) -> bool {
        self.processes(row) > 1
    }

    /// The key of the first.
    pub fn key(&self, row: usize) -> TaskKey {
        self.tasks.key(self.first(row))
    }

    /// Its thread's id: the process where a row is one.
    pub fn pid(&self, row: usize) -> u32 {
        self.tasks.pid(self.first(row))
    }

    /// Its process.
    pub fn tgid(&self, row: usize) -> u32 {
        self.tasks.tgid(self.first(row))
    }

    /// The parent process; none where a row is several.
    pub fn ppid(&self, row: usize) -> Option<u32> {
        self.tasks.ppid(self.first(row)).filter(|_| !self.is_several(row))
    }

    /// The user; none where a row may be of several.
    pub fn uid(&self, row: usize) -> Option<u32> {
        let is_one = !self.is_several(row) || self.sums.by != GroupBy::Cgroup;
        self.tasks.uid(self.first(row)).filter(|_| is_one)
    }

    /// The name; none where a row may be of several.
    pub fn comm(&self, row: usize) -> Option<Comm> {
        let is_one = !self.is_several(row) || !matches!(self.sums.by, GroupBy::User | GroupBy::Cgroup);
        is_one.then(|| self.tasks.comm(self.first(row)))
    }

    /// The state's letter; none where a row is several.
    pub fn state(&self, row: usize) -> Option<u8> {
        self.tasks.state(self.first(row)).filter(|_| !self.is_several(row))
    }

    /// -20 to 19; none where a row is several.
    pub fn nice(&self, row: usize) -> Option<i8> {
        (!self.is_several(row)).then(|| self.tasks.nice(self.first(row)))
    }

    /// The cgroup's id; none where a row may be of several.
    pub fn cgroup(&self, row: usize) -> Option<u64> {
        let is_one = !self.is_several(row) || self.sums.by == GroupBy::Cgroup;
        self.tasks.cgroup(self.first(row)).filter(|_| is_one)
    }

    /// Nanoseconds on a CPU: of who lives precise, of who ended as its record tells it.
    pub fn cpu_ns(&self, row: usize) -> Option<u64> {
        let members = self.members(row).iter();
        members.map(|member| self.tasks.cpu_ns(member.index as usize)).sum()
    }

    /// Whether its delays other than the run queue's are counted.
    pub fn accounting(&self, row: usize) -> Accounting {
        self.tasks.accounting(self.first(row))
    }

    /// A figure of all of a row's tasks. What one of them lacks the sum lacks, too; what a process has once is taken of its
    /// first thread.
    pub fn get(&self, row: usize, figure: Figure) -> Option<u64> {
        // Most processes have one thread.
        let members = match self.members(row) {
            [only] => return self.tasks.get(only.index as usize, figure),
            members => members,
        };
        let mut sum = 0_u64;
        let mut tgid = None;
        for member in members {
            if figure.is_of_process() && tgid.replace(member.tgid()) == Some(member.tgid()) {
                continue;
            }
            match (self.tasks.get(member.index as usize, figure), figure.is_maximum()) {
                // A maximum is told where it is new, and of several the longest.
                (None, true) => {}
                (None, false) => return None,
                (Some(value), true) => sum = sum.max(value),
                (Some(value), false) => sum = sum.saturating_add(value),
            }
        }
        (!figure.is_maximum() || sum > 0).then_some(sum)
    }

    fn members(&self, row: usize) -> &'a [Member] {
        let (start, end) = self.sums.ranges[row];
        &self.sums.order[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::tasks::{Ended, TaskChanges};
    use crate::sample::Clock;
    use crate::task::table::{TaskRow, TaskTable};

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
        sums.fill(changes.of(&tables[1]), by, None);
        let rows = sums.of(changes.of(&tables[1]));
        (0..rows.len())
            .map(|row| {
                let name = rows.comm(row).map_or(String::new(), |comm| comm.as_str().to_owned());
                let (on_cpu, resident) =
                    (rows.get(row, Figure::ON_CPU), rows.get(row, Figure::RESIDENT_BYTES));
                (name, rows.threads(row), rows.processes(row), on_cpu, resident)
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
