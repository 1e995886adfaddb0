//! The account of a tree of processes, from the exit records of their threads and the events of their forks.

use std::collections::{HashMap, HashSet};

use facts::linux::proc_connector::ProcessEvent;
use facts::linux::taskstats::ExitInfo;
use facts::task::comm::Comm;
use facts::task::exit_record::ExitRecord;
use facts::task::figure::Figure;
use facts::task::{Cause, TaskAccount, TaskRow, TaskSum, TimeBreakdown};
use facts::unit::Nanos;

use super::execs::BeforeExec;

/// The figures of all processes of one name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) comm: Comm,
    /// The figures of its threads, from their exit records.
    pub(crate) sum: TaskSum,
    /// CPU time as it is reported: [`Account::close`] chooses.
    pub(crate) cpu: Nanos,
    /// The estimated share of this program in the CPU time that wait4(2) reports for the tree and that no record contains.
    pub(crate) unrecorded: Nanos,
}

impl Program {
    /// Both together.
    pub(crate) fn plus(mut self, other: &Self) -> Self {
        self.sum.add(&other.sum);
        self.cpu += other.cpu;
        self.unrecorded += other.unrecorded;
        self
    }

    /// A figure in nanoseconds or bytes, 0 if no record contains it.
    pub(crate) fn figure(&self, figure: Figure) -> u64 {
        self.sum.get(figure).unwrap_or(0)
    }

    /// How long its threads waited for a cause, as far as it is known.
    pub(crate) fn waited(&self, cause: Cause) -> Nanos {
        Nanos(self.figure(Figure::delay(cause)))
    }

    /// Where its time went.
    pub(crate) fn breakdown(&self) -> TimeBreakdown {
        let mut sum = self.sum.clone();
        sum.set(Figure::ON_CPU, Some((self.cpu + self.unrecorded).0));
        sum.most_unrecorded = Nanos(0);
        let breakdown = sum.breakdown();
        TimeBreakdown { on_cpu: Some(self.cpu), unrecorded: Some(self.unrecorded), ..breakdown }
    }

    /// CPU time in timer ticks. A short task can be charged a whole tick that was mostly used by another task, so the result is at
    /// most the lifetime of the threads.
    fn ticks(&self) -> Nanos {
        let ticks = self.figure(Figure::USER).saturating_add(self.figure(Figure::SYSTEM));
        Nanos(ticks).min(self.sum.thread_time)
    }

    fn on_cpu(&self) -> Nanos {
        Nanos(self.figure(Figure::ON_CPU))
    }
}

/// The result of an account.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// The programs, those with the most CPU time first.
    pub(crate) programs: Vec<Program>,
    /// All of them together.
    pub(crate) whole: Program,
    /// The command's own process, its threads summed.
    pub(crate) own: Option<(TaskAccount, ExitInfo)>,
}

/// The most names that are kept apart: a program may give its threads any number of them.
const MAX_NAMES: usize = 1024;
const OTHER_NAMES: &[u8] = b"(others)";

/// A tree of processes and what those that ended in it did.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// The command's own process.
    root: u32,
    members: HashSet<u32>,
    by_program: HashMap<Comm, Program>,
    /// The command's own leader, and its other threads summed.
    leader: Option<(TaskAccount, ExitInfo)>,
    others: TaskSum,
    /// Records that `settle` has not yet checked against the members.
    pending: Vec<ExitRecord>,
    /// The wall time in the last main-thread record of each process. A thread that calls execve(2) takes over the id and the start time
    /// of the main thread, so there are two records with this id, and both count their time from the same start.
    lived: HashMap<u32, Nanos>,
    /// The figures of living members from before they became other programs, in order.
    earlier: HashMap<u32, Vec<BeforeExec>>,
}

impl Account {
    /// Creates the account of a process that has just begun.
    pub(crate) fn of(root: u32) -> Self {
        Self { root, members: HashSet::from([root]), ..Self::default() }
    }

    /// Adds a forked process to the members if its parent is a member, or whit itself, which starts no other process meanwhile.
    /// Otherwise removes its pid, which the kernel may have reused after a member ended.
    pub(crate) fn see(&mut self, event: ProcessEvent) {
        if let ProcessEvent::Fork { parent_tgid, pid, tgid } = event
            && pid == tgid
        {
            self.lived.remove(&tgid);
            self.earlier.remove(&tgid);
            if self.members.contains(&parent_tgid) || parent_tgid == std::process::id() {
                self.members.insert(tgid);
            } else {
                self.members.remove(&tgid);
            }
        }
    }

    /// Returns true if a process is a member.
    pub(super) fn has(&self, tgid: u32) -> bool {
        self.members.contains(&tgid)
    }

    /// Takes what a member had done when it became another program.
    pub(super) fn split(&mut self, earlier: BeforeExec) {
        self.earlier.entry(earlier.row.key.pid).or_default().push(earlier);
    }

    /// Keeps a record until [`settle`](Self::settle).
    pub(crate) fn keep(&mut self, record: ExitRecord) {
        self.pending.push(record);
    }

    /// Adds the records of members. Call it after `see` has received the fork events up to the time of these records.
    pub(crate) fn settle(&mut self) {
        for record in std::mem::take(&mut self.pending) {
            // Before taskstats version 12 a record has no tgid. Then this is the thread's own id, and only main threads are counted.
            let tgid = record.row.process();
            if self.members.contains(&tgid) {
                self.add(&record, tgid);
            }
        }
    }

    fn add(&mut self, record: &ExitRecord, tgid: u32) {
        let is_leader = record.row.key.pid == tgid;
        let mut record = *record;
        if is_leader {
            // Each program has what was done from one execve(2) to the next.
            let mut before = TaskRow::NONE;
            for BeforeExec { comm, row } in self.earlier.remove(&tgid).unwrap_or_default() {
                let mut part = row.since(&before).sum_since_start(true);
                part.processes = 0;
                self.program(comm).sum.add(&part);
                before = row;
            }
            record.row = record.row.since(&before);
        }
        let mut account = record.account();
        account.sum.processes = u32::from(is_leader);
        if is_leader && let Some(earlier) = self.lived.insert(tgid, record.row.wall) {
            // An earlier record with this id already covers the start of this time. Only the rest is counted, but no less than
            // the known parts (on CPU, run queue, block I/O) of this record.
            let wall = account.wall.saturating_sub(earlier);
            let claimed = account.wall.saturating_sub(account.sum.unclaimed());
            account.wall = wall.max(claimed);
            account.sum.thread_time = account.wall;
        }
        self.program(account.comm).sum.add(&account.sum);
        if record.row.key.pid == self.root {
            self.leader = Some((account, record.exit));
        } else if tgid == self.root {
            self.others.add(&account.sum);
        }
    }

    fn program(&mut self, mut comm: Comm) -> &mut Program {
        if self.by_program.len() >= MAX_NAMES && !self.by_program.contains_key(&comm) {
            comm = Comm::new(OTHER_NAMES);
        }
        self.by_program.entry(comm).or_insert_with(|| Program { comm, ..Program::default() })
    }

    /// Computes the totals. `exact_cpu` is the CPU time of the tree from wait4(2). The kernel writes an exit record before it charges
    /// the last run to the precise counter. So the ticks are often more complete for many short tasks, and the precise counter for a
    /// few long ones. All programs use the one whose total is closer to `exact_cpu`. The CPU time that is still missing is divided
    /// among the programs whose records may lack it, as `unrecorded`.
    pub(crate) fn close(self, exact_cpu: Nanos) -> Tree {
        let sum = |of: fn(&Program) -> Nanos| -> u64 { self.by_program.values().map(|one| of(one).0).sum() };
        let (in_ticks, precise) = (sum(Program::ticks), sum(Program::on_cpu));
        // wait4(2) does not count children that the kernel reaps by itself (SIGCHLD ignored). Its time is then too low to be used.
        let is_exact = precise <= exact_cpu.0 + EXACT_SLACK.0;
        let is_by_ticks = is_exact && in_ticks.abs_diff(exact_cpu.0) < precise.abs_diff(exact_cpu.0);
        let mut programs: Vec<Program> = self.by_program.into_values().collect();
        for program in &mut programs {
            program.cpu = if is_by_ticks { program.ticks() } else { program.on_cpu() };
        }
        if let ([program], true) = (&mut programs[..], is_exact) {
            // There is only one program, so all of the exact time belongs to it.
            program.cpu = exact_cpu;
        } else if is_exact {
            share_out(&mut programs, exact_cpu);
        }
        programs.sort_by_key(|program| (std::cmp::Reverse(program.cpu), program.comm));
        let whole = programs.iter().fold(Program::default(), Program::plus);
        let own = self.leader.map(|(mut account, exit)| {
            if self.others.threads > 0 {
                account.sum.add(&self.others);
            }
            if whole.sum.processes == 1 && is_exact {
                account.sum.set(Figure::ON_CPU, Some(exact_cpu.0));
                account.sum.most_unrecorded = Nanos(0);
            }
            (account, exit)
        });
        Tree { programs, whole, own }
    }
}

/// The most by which precise times may exceed those of wait4(2), which the kernel scales.
const EXACT_SLACK: Nanos = Nanos(20_000_000);

/// Gives each program its part of the time that no record contains, in proportion to what its records may lack.
fn share_out(programs: &mut [Program], exact_cpu: Nanos) {
    let recorded: Nanos = programs.iter().map(|program| program.cpu).sum();
    let missing = exact_cpu.saturating_sub(recorded);
    let most: u128 = programs.iter().map(|program| u128::from(program.sum.most_unrecorded.0)).sum();
    let mut left = missing;
    for program in programs.iter_mut().filter(|_| most > 0) {
        let share = u128::from(missing.0) * u128::from(program.sum.most_unrecorded.0) / most;
        program.unrecorded = Nanos(share as u64).min(left);
        left = left.saturating_sub(program.unrecorded);
    }
    // One program gets the rest: some nanoseconds from rounding, or all if `most_unrecorded` is zero for every program.
    if let Some(first) = programs.first_mut() {
        first.unrecorded += left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::task::{Accounting, TaskKey, TaskRow};

    fn ended(pid: u32, tgid: u32, comm: &str, on_cpu: u64) -> ExitRecord {
        let mut row = TaskRow {
            key: TaskKey { pid, start: Nanos(0) },
            tgid: Some(tgid),
            comm: Comm::new(comm.as_bytes()),
            accounting: Accounting::On,
            wall: Nanos(100),
            ..TaskRow::NONE
        };
        row.figures.set(Figure::ON_CPU, Some(on_cpu));
        // It slept, and waited for nothing.
        row.figures.set(Figure::VOLUNTARY_SWITCHES, Some(1));
        for cause in [Cause::RunQueue, Cause::BlockIo] {
            row.figures.set(Figure::delay(cause), Some(0));
        }
        ExitRecord { row, exit: ExitInfo::default(), between: (Nanos(0), Nanos(0)), tick: Nanos(0) }
    }

    fn fork(parent_tgid: u32, tgid: u32) -> ProcessEvent {
        ProcessEvent::Fork { parent_tgid, pid: tgid, tgid }
    }

    #[test]
    fn descendants_count_and_others_do_not() {
        let mut account = Account::of(10);
        for record in [
            ended(12, 12, "cc1", 3),
            ended(11, 11, "cc1", 2),
            ended(90, 90, "cc1", 50),
            ended(10, 10, "make", 1),
        ] {
            account.keep(record);
        }
        for event in [fork(10, 11), fork(11, 12), fork(1, 90)] {
            account.see(event);
        }
        account.settle();
        let tree = account.close(Nanos(6));
        let found: Vec<_> = tree
            .programs
            .iter()
            .map(|program| (program.comm.as_str(), program.sum.processes, program.cpu.0))
            .collect();
        assert_eq!(found, [("cc1", 2, 5), ("make", 1, 1)]);
        assert_eq!(tree.whole.breakdown().sleeping, Some(Nanos(294)));
        assert_eq!(tree.own.map(|(account, _)| account.sum.on_cpu()), Some(Some(Nanos(1))));
    }

    #[test]
    fn what_is_nearer_to_the_exact_time_is_taken_for_all() {
        let closed = |exact| {
            let mut account = Account::of(10);
            for (pid, comm, tick) in [(10, "sh", 0), (11, "true", 80)] {
                account.members.insert(pid);
                let mut record = ended(pid, pid, comm, 20);
                record.row.figures.set(Figure::USER, Some(tick));
                record.row.figures.set(Figure::SYSTEM, Some(0));
                account.keep(record);
            }
            account.settle();
            let Tree { programs, whole, .. } = account.close(Nanos(exact));
            let found: Vec<_> =
                programs.iter().map(|program| (program.comm.as_str().to_owned(), program.cpu.0)).collect();
            assert_eq!(whole.cpu.0, found.iter().map(|(_, cpu)| cpu).sum::<u64>());
            found
        };
        assert_eq!(closed(50), [("sh".to_owned(), 20), ("true".to_owned(), 20)]);
        assert_eq!(closed(70), [("true".to_owned(), 80), ("sh".to_owned(), 0)]);
    }

    #[test]
    fn time_without_a_record_is_not_sleep() {
        let close = |programs: &[(u32, &str, u64)], exact| {
            let mut account = Account::of(10);
            for (pid, comm, on_cpu) in programs {
                account.members.insert(*pid);
                let mut record = ended(*pid, *pid, comm, *on_cpu);
                record.row.figures.set(Figure::VOLUNTARY_SWITCHES, Some(0));
                account.keep(record);
            }
            account.settle();
            account.close(Nanos(exact))
        };
        // If it is the only one, its figures are exact.
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
            let mut record = ended(10, 10, "ex", 5);
            record.row.wall = Nanos(wall);
            account.keep(record);
        }
        account.settle();
        assert_eq!(account.close(Nanos(15)).whole.sum.thread_time, Nanos(190));
    }

    #[test]
    fn names_are_bounded() {
        let mut account = Account::of(10);
        for thread in 0..2_000 {
            account.keep(ended(100 + thread, 10, &format!("worker-{thread}"), 1));
        }
        account.settle();
        let tree = account.close(Nanos(0));
        assert_eq!((tree.programs.len(), tree.whole.sum.threads), (MAX_NAMES + 1, 2_000));
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
        assert_eq!(own.map(|(account, _)| account.sum.on_cpu()), Some(Some(Nanos(5))));
        assert_eq!((whole.sum.processes, whole.sum.threads), (1, 2));
    }
}
