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
    order: Vec<Member>,
    ranges: Vec<(u32, u32)>,
}

/// Sorted into rows, processes within them, leaders first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    group: (u8, u64, u64),
    tgid: u32,
    is_follower: bool,
    index: u32,
}

impl TaskSums {
    /// Fills from what tasks did.
    pub fn fill(&mut self, changes: &TaskChanges, by: GroupBy) {
        self.clear();
        let table = &changes.table;
        self.table.clock = table.clock;
        for index in 0..table.len() {
            let (tgid, is_ended) = (table.tgid(index), index >= changes.living);
            self.order.push(Member {
                group: group(table, index, by, is_ended),
                tgid,
                is_follower: table.pid(index) != tgid,
                index: index as u32,
            });
        }
        if by == GroupBy::Process {
            self.send_ended_threads_home();
        }
        self.order.sort_unstable();
        self.find_ranges();
        for (start, end) in &self.ranges {
            let members = &self.order[*start as usize..*end as usize];
            let first = members[0].index as usize;
            self.table.push_identity(table, first);
            self.threads.push(members.len() as u32);
            let starts_process = |at: usize| at == 0 || members[at - 1].tgid != members[at].tgid;
            self.processes.push((0..members.len()).filter(|at| starts_process(*at)).count() as u32);
            let of = |member: &Member| changes.wall_ns[member.index as usize];
            self.thread_time_ns.push(members.iter().map(of).sum());
            self.is_ended.push(members.iter().all(|member| member.index as usize >= changes.living));
        }
        for figure in Figure::all() {
            let (from, ranges, order) = (table.column(figure), &self.ranges, &self.order);
            let sums =
                ranges.iter().map(|(start, end)| sum(figure, from, &order[*start as usize..*end as usize]));
            self.table.column_mut(figure).extend(sums);
        }
    }

    fn clear(&mut self) {
        self.table.clear();
        self.threads.clear();
        self.processes.clear();
        self.thread_time_ns.clear();
        self.is_ended.clear();
        self.order.clear();
        self.ranges.clear();
    }

    /// A thread that ended belongs to its process, if that lives.
    fn send_ended_threads_home(&mut self) {
        let mut living: Vec<u32> = Vec::new();
        for member in &self.order {
            if member.group.0 == LIVING {
                living.push(member.tgid);
            }
        }
        living.sort_unstable();
        for member in self.order.iter_mut().filter(|member| member.group.0 == ENDED) {
            if living.binary_search(&member.tgid).is_ok() {
                member.group = (LIVING, u64::from(member.tgid), 0);
                member.is_follower = true;
            }
        }
    }

    fn find_ranges(&mut self) {
        let mut start = 0;
        for end in 1..=self.order.len() {
            if end == self.order.len() || self.order[end].group != self.order[start].group {
                self.ranges.push((start as u32, end as u32));
                start = end;
            }
        }
    }
}

const LIVING: u8 = 0;
const ENDED: u8 = 1;

fn group(table: &TaskTable, index: usize, by: GroupBy, is_ended: bool) -> (u8, u64, u64) {
    let whole = |half: [u8; 8]| u64::from_be_bytes(half);
    match by {
        GroupBy::Thread => (u8::from(is_ended), index as u64, 0),
        GroupBy::Process if is_ended => {
            let comm = table.comm(index).0;
            let (first, second) = comm.split_at(8);
            (ENDED, whole(first.try_into().unwrap_or_default()), whole(second.try_into().unwrap_or_default()))
        }
        GroupBy::Process => (LIVING, u64::from(table.tgid(index)), 0),
        GroupBy::User => (LIVING, table.uid(index).map_or(ABSENT, u64::from), 0),
        GroupBy::Cgroup => (LIVING, table.cgroup(index).unwrap_or(ABSENT), 0),
    }
}

/// What one member lacks the sum lacks, too; what a process has once is taken of its first thread.
fn sum(figure: Figure, column: &[u64], members: &[Member]) -> u64 {
    let mut sum = 0_u64;
    let mut tgid = None;
    for member in members {
        if figure.is_of_process() && tgid.replace(member.tgid) == Some(member.tgid) {
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
