//! The rows that tasks were grouped to, and their figures.

use super::{GroupBy, Member, TaskSums};
use crate::rate::Interval;
use crate::rate::tasks::Changed;
use crate::task::figure::Figure;
use crate::task::table::Comm;
use crate::task::{Accounting, TaskKey};
use crate::unit::Nanos;

/// Rows that stand for several tasks. Who they are is told of the first, a process's leader; figures are added up when they
/// are asked for, since a view looks at few of them.
#[derive(Clone, Copy, Debug)]
pub struct Summed<'a> {
    pub(super) sums: &'a TaskSums,
    pub(super) tasks: Changed<'a>,
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
        self.members(row).len() as u32
    }

    /// Processes in a row.
    pub fn processes(&self, row: usize) -> u32 {
        let mut members = self.members(row).iter().map(|member| member.tgid());
        let Some(mut last) = members.next() else { return 0 };
        // Those of one stand together.
        1 + members.filter(|tgid| std::mem::replace(&mut last, *tgid) != *tgid).count() as u32
    }

    /// What a row's parts add up to: the time that its threads lived.
    pub fn thread_time(&self, row: usize) -> Nanos {
        let of_threads: u64 = self.indices(row).map(|index| self.tasks.wall_ns(index)).sum();
        // Of threads that came and went no more is known than how long they ran.
        Nanos(of_threads + self.ended_threads_ns(row))
    }

    /// What threads that no record tells of were on a CPU; by thread they are nobody's.
    fn ended_threads_ns(&self, row: usize) -> u64 {
        if self.sums.by == GroupBy::Thread {
            return 0;
        }
        let leaders = self.members(row).iter().filter(|member| !member.is_follower());
        leaders.map(|leader| self.tasks.ended_threads_ns(leader.tgid())).sum()
    }

    /// Whether all of a row's tasks have ended.
    pub fn is_ended(&self, row: usize) -> bool {
        self.indices(row).all(|index| self.tasks.is_ended(index))
    }

    /// Whether any of a row's tasks did anything.
    pub fn is_active(&self, row: usize) -> bool {
        self.indices(row).any(|index| self.tasks.is_active(index))
    }

    /// The place of the task that stands for a row: the first that lives, a process's leader; if all have ended the first.
    pub fn first(&self, row: usize) -> usize {
        self.living(row).unwrap_or(self.members(row)[0].index as usize)
    }

    /// The place of a row's first task that lives.
    pub fn living(&self, row: usize) -> Option<usize> {
        self.indices(row).find(|index| !self.tasks.is_ended(*index))
    }

    /// The keys of a row's tasks that live.
    pub fn living_keys(self, row: usize) -> impl Iterator<Item = TaskKey> + use<'a> {
        let living = self.indices(row).filter(move |index| !self.tasks.is_ended(*index));
        living.map(move |index| self.tasks.key(index))
    }

    /// Whether a row stands for several processes, so that what each has of its own is no row's.
    pub fn is_several(&self, row: usize) -> bool {
        let members = self.members(row);
        members[0].tgid() != members[members.len() - 1].tgid()
    }

    /// The key of the first.
    pub fn key(&self, row: usize) -> TaskKey {
        self.tasks.key(self.first(row))
    }

    /// Its thread's id; of a row that is a process, the process's.
    pub fn pid(&self, row: usize) -> u32 {
        match self.sums.by {
            GroupBy::Process => self.tgid(row),
            _ => self.tasks.pid(self.first(row)),
        }
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
        let of_threads: Option<u64> = self.indices(row).map(|index| self.tasks.cpu_ns(index)).sum();
        of_threads.map(|nanos| nanos + self.ended_threads_ns(row))
    }

    /// Time on a CPU that no record tells of a row's tasks that ended.
    pub fn most_unrecorded(&self, row: usize) -> Nanos {
        Nanos(self.indices(row).map(|index| self.tasks.most_unrecorded_ns(index)).sum())
    }

    /// Whether delays other than the run queue's are counted of the task that stands for the row.
    pub fn accounting(&self, row: usize) -> Accounting {
        self.tasks.accounting(self.first(row))
    }

    /// Of how many of a row's tasks they are not, as far as the reader can tell. Threads are counted if their main thread is.
    pub fn uncounted(&self, row: usize) -> u32 {
        let is_counted = |member: &Member| self.tasks.accounting(member.index as usize) == Accounting::On;
        let of_process = |members: &[Member]| match members {
            [leader, ..] if !leader.is_follower() && is_counted(leader) => 0,
            members => members.iter().filter(|member| !is_counted(member)).count() as u32,
        };
        self.members(row).chunk_by(|a, b| a.tgid() == b.tgid()).map(of_process).sum()
    }

    /// A figure of all of a row's tasks. What one of them lacks the sum lacks, too; of what a process has once the most counts
    /// that one of its threads shows: a main thread that has ended shows no memory.
    pub fn get(&self, row: usize, figure: Figure) -> Option<u64> {
        // Most processes have one thread.
        let members = match self.members(row) {
            [only] => return self.tasks.get(only.index as usize, figure),
            members => members,
        };
        if figure.is_of_process() {
            return self.sum_of_processes(members, figure);
        }
        let mut sum = 0_u64;
        for member in members {
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

    /// Of each process the most.
    fn sum_of_processes(&self, members: &[Member], figure: Figure) -> Option<u64> {
        let mut sum = 0_u64;
        for process in members.chunk_by(|a, b| a.tgid() == b.tgid()) {
            let of_threads = process.iter().map(|member| self.tasks.get(member.index as usize, figure));
            sum = sum.saturating_add(of_threads.flatten().max()?);
        }
        Some(sum)
    }

    fn indices(&self, row: usize) -> impl Iterator<Item = usize> + use<'a> {
        self.members(row).iter().map(|member| member.index as usize)
    }

    /// Never none.
    fn members(&self, row: usize) -> &'a [Member] {
        let (start, end) = self.sums.ranges[row];
        &self.sums.order[start as usize..end as usize]
    }
}
