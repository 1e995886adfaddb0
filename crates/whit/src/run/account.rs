//! The account of a tree of processes, from the exit records of their threads and the events of their forks.

use std::collections::{HashMap, HashSet};

use facts::linux::proc_connector::ProcessEvent;
use facts::linux::taskstats::{ExitInfo, TaskStats};
use facts::task::table::Comm;
use facts::task::{Accounting, Cause, Remainder, Task, TimeBreakdown};
use facts::unit::{Bytes, Nanos};

/// What all processes of one name did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) comm: Comm,
    /// Processes that ended under this name.
    pub(crate) processes: u64,
    pub(crate) threads: u64,
    /// The lives of all threads together: what the parts add up to.
    pub(crate) thread_time: Nanos,
    /// On a CPU, as it is told: [`Account::close`] chooses.
    pub(crate) cpu: Nanos,
    /// On a CPU, too, as wait4(2) says of the whole: no record tells of which program.
    pub(crate) unrecorded: Nanos,
    /// Time on a CPU that the records may lack.
    most_unrecorded: Nanos,
    /// On a CPU, precise to the scheduler's clock, less what the last tick of each thread had not been charged.
    pub(crate) on_cpu: Nanos,
    pub(crate) user: Nanos,
    pub(crate) system: Nanos,
    pub(crate) delays: [Waited; Cause::ALL.len()],
    pub(crate) read: Bytes,
    pub(crate) written: Bytes,
    pub(crate) peak_resident: Bytes,
    /// Threads whose delays were not counted.
    pub(crate) uncounted: u64,
    /// Values left out because they cannot be.
    pub(crate) impossible_values: u64,
}

/// Waits for one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) count: u64,
    pub(crate) total: Nanos,
    pub(crate) longest: Option<Nanos>,
    /// Threads of which this is not known: the total is a least one.
    pub(crate) unknown: u64,
}

impl Program {
    fn add(&mut self, stats: &TaskStats, is_leader: bool) {
        let task = &stats.task;
        self.processes += u64::from(is_leader);
        self.threads += 1;
        self.thread_time += task.wall;
        self.most_unrecorded += task.most_unrecorded;
        self.on_cpu += task.on_cpu.unwrap_or_default();
        self.user += task.user.unwrap_or_default();
        self.system += task.system.unwrap_or_default();
        self.read += Bytes(stats.usage.read_bytes);
        self.written += Bytes(stats.usage.written_bytes);
        self.peak_resident = self.peak_resident.max(task.peak_resident.unwrap_or_default());
        self.impossible_values += u64::from(task.impossible_values);
        self.uncounted += u64::from(task.accounting != Accounting::On);
        for cause in Cause::ALL {
            self.delays[cause as usize].add(task, cause);
        }
    }

    /// Both together.
    pub(crate) fn plus(mut self, other: &Self) -> Self {
        self.processes += other.processes;
        self.threads += other.threads;
        self.thread_time += other.thread_time;
        self.cpu += other.cpu;
        self.unrecorded += other.unrecorded;
        self.most_unrecorded += other.most_unrecorded;
        self.on_cpu += other.on_cpu;
        self.user += other.user;
        self.system += other.system;
        self.read += other.read;
        self.written += other.written;
        self.peak_resident = self.peak_resident.max(other.peak_resident);
        self.uncounted += other.uncounted;
        self.impossible_values += other.impossible_values;
        for (mine, others) in self.delays.iter_mut().zip(&other.delays) {
            mine.count += others.count;
            mine.total += others.total;
            mine.longest = mine.longest.max(others.longest);
            mine.unknown += others.unknown;
        }
        self
    }

    pub(crate) fn waited(&self, cause: Cause) -> &Waited {
        &self.delays[cause as usize]
    }

    /// Where its time went. What is not known of a thread counts as its sleep.
    pub(crate) fn breakdown(&self) -> TimeBreakdown {
        let on_cpu = self.cpu + self.unrecorded;
        let waited = |cause| Some(self.waited(cause).total);
        let (run_queue, block_io) = (waited(Cause::RunQueue), waited(Cause::BlockIo));
        let breakdown =
            TimeBreakdown::new(self.thread_time, Some(on_cpu), run_queue, block_io, Remainder::default());
        TimeBreakdown { on_cpu: Some(self.cpu), unrecorded: Some(self.unrecorded), ..breakdown }
    }

    /// By the ticks, of which a single short task may get one that was mostly another's.
    fn ticks(&self) -> Nanos {
        (self.user + self.system).min(self.thread_time)
    }
}

/// What an account comes to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// Those with the most CPU time first.
    pub(crate) programs: Vec<Program>,
    /// All of them together.
    pub(crate) whole: Program,
    /// The command's own process, its threads summed.
    pub(crate) own: Option<(Task, ExitInfo)>,
}

/// Names that are told apart: a program may give its threads any number of them.
const MOST_NAMES: usize = 1024;
const OTHER_NAMES: &[u8] = b"(others)";

impl Waited {
    fn add(&mut self, task: &Task, cause: Cause) {
        let delay = task.known(cause);
        match delay.total() {
            Some(total) => self.total += total,
            None => self.unknown += 1,
        }
        self.count += delay.count().unwrap_or(0);
        self.longest = self.longest.max(delay.max());
    }
}

/// A tree of processes and what those that ended in it did.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// The command's own process.
    root: u32,
    members: HashSet<u32>,
    by_program: HashMap<Comm, Program>,
    /// The command's own leader, and its other threads summed.
    leader: Option<(Task, ExitInfo)>,
    others: Option<Task>,
    /// Records that came before it was known whose they are.
    pending: Vec<TaskStats>,
    /// How long each process had lived at its last record. A thread that executes another program takes over the main thread's id and
    /// start, and the records of both count their time from there.
    lived: HashMap<u32, Nanos>,
}

impl Account {
    /// Of a process that has just begun.
    pub(crate) fn of(root: u32) -> Self {
        Self { root, members: HashSet::from([root]), ..Self::default() }
    }

    /// A fork makes a member, if its parent is one or whit itself, which starts nothing else meanwhile. The pid of a member that ended may come back as somebody else's.
    pub(crate) fn see(&mut self, event: ProcessEvent) {
        if let ProcessEvent::Fork { parent_tgid, pid, tgid } = event
            && pid == tgid
        {
            self.lived.remove(&tgid);
            if self.members.contains(&parent_tgid) || parent_tgid == std::process::id() {
                self.members.insert(tgid);
            } else {
                self.members.remove(&tgid);
            }
        }
    }

    /// Keeps a record until [`settle`](Self::settle).
    pub(crate) fn keep(&mut self, stats: TaskStats) {
        self.pending.push(stats);
    }

    /// Counts the records of members. To be called when the forks of their time have been seen.
    pub(crate) fn settle(&mut self) {
        for stats in std::mem::take(&mut self.pending) {
            // Before taskstats version 12 a record does not name its process.
            let tgid = stats.task.tgid.unwrap_or(stats.task.key.pid);
            if self.members.contains(&tgid) {
                self.add(&TaskStats { task: stats.task.checked(), ..stats }, tgid);
            }
        }
    }

    fn add(&mut self, stats: &TaskStats, tgid: u32) {
        let is_leader = stats.task.key.pid == tgid;
        let mut stats = *stats;
        if is_leader && let Some(earlier) = self.lived.insert(tgid, stats.task.wall) {
            // What it did under its own id before is not in this time: its parts may make it longer, never its sleep.
            let wall = stats.task.wall.saturating_sub(earlier);
            let waited = |cause: Cause| stats.task.delays[cause].total().unwrap_or_default();
            let claimed =
                stats.task.on_cpu.unwrap_or_default() + waited(Cause::RunQueue) + waited(Cause::BlockIo);
            stats.task.wall = wall.max(claimed.min(stats.task.wall));
            stats.task.thread_time = stats.task.wall;
        }
        let stats = &stats;
        let mut comm = Comm::new(stats.task.comm.as_bytes());
        if self.by_program.len() >= MOST_NAMES && !self.by_program.contains_key(&comm) {
            comm = Comm::new(OTHER_NAMES);
        }
        self.by_program
            .entry(comm)
            .or_insert_with(|| Program { comm, ..Program::default() })
            .add(stats, is_leader);
        if stats.task.key.pid == self.root {
            self.leader = Some((stats.task, stats.exit));
        } else if tgid == self.root {
            match &mut self.others {
                Some(others) => others.add(&stats.task),
                None => self.others = Some(stats.task),
            }
        }
    }

    /// Adds up. `exact_cpu` is what wait4(2) says of the tree. A record is made before the last stretch is charged to the precise
    /// figure, so that of many short tasks the ticks know more, and of a few the precise figures do: what comes nearer to the exact
    /// time is taken for all. What both lack is shared out as unrecorded among the programs whose records may lack it.
    pub(crate) fn close(self, exact_cpu: Nanos) -> Tree {
        let sum = |of: fn(&Program) -> Nanos| -> u64 { self.by_program.values().map(|one| of(one).0).sum() };
        let (in_ticks, precise) = (sum(Program::ticks), sum(|program| program.on_cpu));
        // Children that the kernel reaps by itself are in nobody's exact time: then it says nothing.
        let is_exact = precise <= exact_cpu.0 + EXACT_SLACK.0;
        let is_by_ticks = is_exact && in_ticks.abs_diff(exact_cpu.0) < precise.abs_diff(exact_cpu.0);
        let mut programs: Vec<Program> = self.by_program.into_values().collect();
        for program in &mut programs {
            program.cpu = if is_by_ticks { program.ticks() } else { program.on_cpu };
        }
        if let ([program], true) = (&mut programs[..], is_exact) {
            // The only one: all of it is this one's.
            program.cpu = exact_cpu;
        } else if is_exact {
            share_out(&mut programs, exact_cpu);
        }
        programs.sort_by_key(|program| (std::cmp::Reverse(program.cpu), program.comm));
        let whole = programs.iter().fold(Program::default(), Program::plus);
        let own = self.leader.map(|(mut task, exit)| {
            self.others.iter().for_each(|others| task.add(others));
            if whole.processes == 1 && is_exact {
                task.on_cpu = Some(exact_cpu);
                task.most_unrecorded = Nanos(0);
            }
            (task, exit)
        });
        Tree { programs, whole, own }
    }
}

/// By so much may precise times exceed those that wait4(2) tells, which the kernel scales.
const EXACT_SLACK: Nanos = Nanos(20_000_000);

/// Gives each program its part of the time that no record tells, in proportion to what its records may lack.
fn share_out(programs: &mut [Program], exact_cpu: Nanos) {
    let recorded: Nanos = programs.iter().map(|program| program.cpu).sum();
    let missing = exact_cpu.saturating_sub(recorded);
    let most: u128 = programs.iter().map(|program| u128::from(program.most_unrecorded.0)).sum();
    let mut left = missing;
    for program in programs.iter_mut().filter(|_| most > 0) {
        let share = u128::from(missing.0) * u128::from(program.most_unrecorded.0) / most;
        program.unrecorded = Nanos(share as u64).min(left);
        left = left.saturating_sub(program.unrecorded);
    }
    // Rounding leaves some nanoseconds, and records of an old kernel nothing to go by.
    if let Some(first) = programs.first_mut() {
        first.unrecorded += left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::name::Name;
    use facts::task::TaskKey;

    fn ended(pid: u32, tgid: u32, comm: &str, on_cpu: u64) -> TaskStats {
        let task = Task {
            key: TaskKey { pid, start: Nanos(0) },
            tgid: Some(tgid),
            comm: Name::new(comm.as_bytes()),
            wall: Nanos(100),
            on_cpu: Some(Nanos(on_cpu)),
            ..Task::default()
        };
        TaskStats { task, ..TaskStats::default() }
    }

    fn fork(parent_tgid: u32, tgid: u32) -> ProcessEvent {
        ProcessEvent::Fork { parent_tgid, pid: tgid, tgid }
    }

    #[test]
    fn descendants_count_and_others_do_not() {
        let mut account = Account::of(10);
        for stats in [
            ended(12, 12, "cc1", 3),
            ended(11, 11, "cc1", 2),
            ended(90, 90, "cc1", 50),
            ended(10, 10, "make", 1),
        ] {
            account.keep(stats);
        }
        for event in [fork(10, 11), fork(11, 12), fork(1, 90)] {
            account.see(event);
        }
        account.settle();
        let tree = account.close(Nanos(6));
        let told: Vec<_> = tree
            .programs
            .iter()
            .map(|program| (program.comm.as_str(), program.processes, program.cpu.0))
            .collect();
        assert_eq!(told, [("cc1", 2, 5), ("make", 1, 1)]);
        assert_eq!(tree.whole.breakdown().sleeping, Some(Nanos(294)));
        assert_eq!(tree.own.map(|(task, _)| task.on_cpu), Some(Some(Nanos(1))));
    }

    #[test]
    fn what_is_nearer_to_the_exact_time_is_taken_for_all() {
        let closed = |exact| {
            let mut account = Account::of(10);
            for (pid, comm, tick) in [(10, "sh", 0), (11, "true", 80)] {
                account.members.insert(pid);
                let mut stats = ended(pid, pid, comm, 20);
                stats.task.user = Some(Nanos(tick));
                account.keep(stats);
            }
            account.settle();
            let Tree { programs, whole, .. } = account.close(Nanos(exact));
            let told: Vec<_> =
                programs.iter().map(|program| (program.comm.as_str().to_owned(), program.cpu.0)).collect();
            assert_eq!(whole.cpu.0, told.iter().map(|(_, cpu)| cpu).sum::<u64>());
            told
        };
        assert_eq!(closed(50), [("sh".to_owned(), 20), ("true".to_owned(), 20)]);
        assert_eq!(closed(70), [("true".to_owned(), 80), ("sh".to_owned(), 0)]);
    }

    #[test]
    fn what_no_record_tells_is_not_sleep() {
        let close = |programs: &[(u32, &str, u64)], exact| {
            let mut account = Account::of(10);
            for (pid, comm, on_cpu) in programs {
                account.members.insert(*pid);
                let mut stats = ended(*pid, *pid, comm, *on_cpu);
                stats.task.most_unrecorded = Nanos(100);
                account.keep(stats);
            }
            account.settle();
            account.close(Nanos(exact))
        };
        // Alone, it is told exactly.
        let alone = close(&[(10, "true", 20)], 90).whole;
        assert_eq!(
            (alone.cpu, alone.unrecorded, alone.breakdown().sleeping),
            (Nanos(90), Nanos(0), Some(Nanos(10)))
        );
        let whole = close(&[(10, "sh", 20), (11, "true", 0)], 90).whole;
        assert_eq!((whole.cpu, whole.unrecorded), (Nanos(20), Nanos(70)));
        assert_eq!(whole.breakdown().sleeping, Some(Nanos(110)));
        // Children that the kernel reaped are not in wait4's time.
        let reaped = close(&[(10, "sh", 20), (11, "work", 500_000_000)], 90).whole;
        assert_eq!((reaped.cpu, reaped.unrecorded), (Nanos(500_000_020), Nanos(0)));
    }

    #[test]
    fn a_thread_that_executes_adds_no_sleep() {
        let mut account = Account::of(10);
        for wall in [100, 150, 190] {
            let mut stats = ended(10, 10, "ex", 5);
            stats.task.wall = Nanos(wall);
            account.keep(stats);
        }
        account.settle();
        assert_eq!(account.close(Nanos(15)).whole.thread_time, Nanos(190));
    }

    #[test]
    fn names_are_bounded() {
        let mut account = Account::of(10);
        for thread in 0..2_000 {
            account.keep(ended(100 + thread, 10, &format!("worker-{thread}"), 1));
        }
        account.settle();
        let tree = account.close(Nanos(0));
        assert_eq!((tree.programs.len(), tree.whole.threads), (MOST_NAMES + 1, 2_000));
    }

    #[test]
    fn a_pid_that_comes_back_elsewhere_is_no_member() {
        let mut account = Account::of(10);
        account.see(fork(10, 11));
        account.see(fork(1, 11));
        account.keep(ended(11, 11, "other", 9));
        account.settle();
        assert!(account.close(Nanos(0)).programs.is_empty());
    }

    #[test]
    fn a_thread_is_of_its_process() {
        let mut account = Account::of(10);
        account.keep(ended(15, 10, "worker", 4));
        account.keep(ended(10, 10, "main", 1));
        account.settle();
        let Tree { whole, own, .. } = account.close(Nanos(5));
        assert_eq!(own.map(|(task, _)| task.on_cpu), Some(Some(Nanos(5))));
        assert_eq!((whole.processes, whole.threads), (1, 2));
    }
}
