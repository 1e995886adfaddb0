//! A task's account: time on a CPU, and time it was held up, by cause.

pub(crate) mod bounds;
mod breakdown;
mod cause;
mod comm;
mod delay;
pub mod figure;
mod row;
pub mod sums;
pub mod table;

use crate::name::Name;
use crate::unit::{Bytes, Nanos};
use bounds::{Spans, Verdict, judge};
pub use breakdown::{Remainder, TimeBreakdown};
pub use cause::Cause;
pub use delay::{Delay, Delays};

/// Whether the kernel counts this task's delays (the run queue's it always does).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// It does: a zero is a zero.
    On,
    /// It does not: every delay but the run queue's is absent.
    Off,
    /// The reader cannot tell a task that never waited from one older than the switch.
    #[default]
    Unsure,
}

/// One task for as long as it lives: a reused pid starts at another time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskKey {
    /// Task id (a process's is its leader's).
    pub pid: u32,
    /// Start on the reader's clock: to be compared with what the same reader gave.
    pub start: Nanos,
}

impl TaskKey {
    /// taskstats says how long a task has lived, so two readings place its start a little apart.
    const SAME_START: Nanos = Nanos(1_000_000_000);

    /// Whether both name one task. A pid comes back after a whole turn of the pid space, which takes longer than
    /// the tolerance.
    pub fn is_same(&self, other: &Self) -> bool {
        self.pid == other.pid && self.start.0.abs_diff(other.start.0) <= Self::SAME_START.0
    }
}

/// A task's account, or the sum of several (a process's threads, a cgroup's tasks).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Task {
    /// Which.
    pub key: TaskKey,
    /// Its process. Since taskstats version 12.
    pub tgid: Option<u32>,
    /// The parent process.
    pub ppid: Option<u32>,
    /// Real user id.
    pub uid: Option<u32>,
    /// The name it gave itself.
    pub comm: Name,
    /// -20 to 19.
    pub nice: Option<i8>,
    /// How long it has lived, or the interval that a difference spans.
    pub wall: Nanos,
    /// Of a sum, the walls of all its threads together: what the parts add up to.
    pub thread_time: Nanos,
    /// Threads summed.
    pub threads: u32,
    /// Time on a CPU, precise to the scheduler's clock; lags by up to a tick while the task runs.
    pub on_cpu: Option<Nanos>,
    /// Time on a CPU as counted in ticks, "real total" in getdelays.
    pub cpu_real: Option<Nanos>,
    /// Of that, in user mode.
    pub user: Option<Nanos>,
    /// Of that, in the kernel.
    pub system: Option<Nanos>,
    /// The most memory that was ever resident.
    pub peak_resident: Option<Bytes>,
    /// The most virtual memory; a kernel thread has 0.
    pub peak_virtual: Option<Bytes>,
    /// Whether delays other than the run queue's are counted.
    pub accounting: Accounting,
    /// Held up, by cause.
    pub delays: Delays,
    /// Values left out because they cannot be.
    pub impossible_values: u32,
    /// Of a sum, threads whose delays are not counted; see [`Self::uncounted`].
    pub uncounted: u32,
    /// Of a task that ended: time on a CPU that its record may lack.
    pub most_unrecorded: Nanos,
}

impl Task {
    /// Divides the wall time.
    pub fn breakdown(&self) -> TimeBreakdown {
        TimeBreakdown::new(
            self.thread_time,
            self.on_cpu,
            self.delays[Cause::RunQueue].total(),
            self.known(Cause::BlockIo).total(),
            Remainder { most_unrecorded: self.most_unrecorded, has_uncounted: self.is_partly_counted() },
        )
    }

    /// What is left of its time beside the parts that are known.
    pub fn unclaimed(&self) -> Nanos {
        let delay = |cause| self.delays[cause].total();
        let parts = [self.on_cpu, delay(Cause::RunQueue), delay(Cause::BlockIo)];
        self.thread_time.saturating_sub(parts.into_iter().flatten().sum())
    }

    /// Of how many of its threads delays other than the run queue's are not counted, as far as the reader can tell.
    pub fn uncounted(&self) -> u32 {
        match self.threads {
            0 | 1 => u32::from(self.accounting != Accounting::On),
            _ => self.uncounted,
        }
    }

    /// Whether it is a sum of threads of which some are counted and some are not: its delays are at least what they say.
    pub fn is_partly_counted(&self) -> bool {
        (1..self.threads).contains(&self.uncounted())
    }

    /// A cause's figures, all absent where the kernel does not count them or the reader cannot tell. Those of a sum of which only a
    /// part is counted are that part's.
    pub fn known(&self, cause: Cause) -> Delay {
        let counted = cause == Cause::RunQueue || self.uncounted() < self.threads.max(1);
        if counted { self.delays[cause] } else { Delay::default() }
    }

    /// Of a single thread: takes away, and counts, what it cannot have waited in its wall time, and reduces what covers time that is
    /// known to be another part (task/bounds.rs).
    pub fn drop_impossible(&mut self) {
        let run_queue = self.delays[Cause::RunQueue].total().unwrap_or_default();
        let spans = Spans {
            wall: self.wall,
            on_cpu: self.on_cpu.unwrap_or_default(),
            run_queue: run_queue.min(self.wall),
            earlier: Nanos(0),
        };
        for cause in Cause::ALL {
            let delay = self.delays[cause];
            // A maximum that cannot be is in the total as well.
            let charged = [delay.total(), delay.max()].into_iter().flatten().max();
            let verdict = charged.map_or(Verdict::Fits, |charged| judge(cause, charged, &spans));
            self.delays[cause] = match verdict {
                Verdict::Fits => continue,
                Verdict::Bounded(room) => {
                    let at_most = |value: Option<Nanos>| value.map(|value| value.min(room));
                    Delay::new(delay.count(), at_most(delay.total()), at_most(delay.max()))
                }
                Verdict::Impossible => {
                    self.impossible_values += 1;
                    Delay::new(delay.count(), None, None)
                }
            };
        }
    }

    /// The same as a value.
    #[must_use]
    pub fn checked(mut self) -> Self {
        self.drop_impossible();
        self
    }

    /// Adds a thread or a task: times and counts are summed, maxima compared, identity and accounting stay those of `self`. A
    /// process's threads are counted if its main thread is: they began later.
    pub fn add(&mut self, other: &Self) {
        self.uncounted = match self.accounting {
            Accounting::On => 0,
            _ => self.uncounted() + other.uncounted(),
        };
        self.most_unrecorded += other.most_unrecorded;
        let sum = |a: Option<Nanos>, b: Option<Nanos>| a.zip(b).map(|(a, b)| a + b);
        self.thread_time += other.thread_time;
        self.threads += other.threads;
        self.on_cpu = sum(self.on_cpu, other.on_cpu);
        self.cpu_real = sum(self.cpu_real, other.cpu_real);
        self.user = sum(self.user, other.user);
        self.system = sum(self.system, other.system);
        self.peak_resident = self.peak_resident.zip(other.peak_resident).map(|(a, b)| a.max(b));
        self.peak_virtual = self.peak_virtual.zip(other.peak_virtual).map(|(a, b)| a.max(b));
        self.impossible_values += other.impossible_values;
        for cause in Cause::ALL {
            self.delays[cause] = self.delays[cause].plus(other.delays[cause]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(wall: u64, on_cpu: u64, run_queue: u64, block_io: u64) -> Task {
        let mut task = Task {
            wall: Nanos(wall),
            thread_time: Nanos(wall),
            threads: 1,
            on_cpu: Some(Nanos(on_cpu)),
            accounting: Accounting::On,
            ..Task::default()
        };
        let delay = |total| Delay::new(Some(1), Some(Nanos(total)), Some(Nanos(total)));
        task.delays[Cause::RunQueue] = delay(run_queue);
        task.delays[Cause::BlockIo] = delay(block_io);
        task
    }

    #[test]
    fn the_parts_add_up_to_the_wall() {
        let breakdown = task(1000, 300, 200, 100).breakdown();
        assert_eq!(breakdown.sleeping, Some(Nanos(400)));
        assert_eq!(breakdown.unknown, None);
    }

    #[test]
    fn without_accounting_sleep_and_block_io_are_one_unknown() {
        let task = Task { accounting: Accounting::Unsure, ..task(1000, 300, 200, 0) };
        let breakdown = task.breakdown();
        assert_eq!((breakdown.block_io, breakdown.sleeping), (None, None));
        assert_eq!(breakdown.unknown, Some(Nanos(500)));
    }

    #[test]
    fn a_wait_longer_than_the_clock_is_absent_and_counted() {
        let task = task(250_000_000, 100_000_000, 100_000_000, 3_600_000_000_000).checked();
        assert_eq!(task.delays[Cause::BlockIo], Delay::new(Some(1), None, None));
        assert_eq!(task.impossible_values, 1);
        assert!(task.delays[Cause::RunQueue].total().is_some());
    }

    #[test]
    fn the_parts_of_a_second_are_at_most_a_second() {
        let task = task(1_000_000_000, 650_000_000, 220_000_000, 690_000_000).checked();
        assert_eq!(task.delays[Cause::BlockIo].total(), Some(Nanos(130_000_000)));
        assert_eq!((task.breakdown().whole, task.impossible_values), (Nanos(1_000_000_000), 0));
    }

    #[test]
    fn a_maximum_that_cannot_be_condemns_the_total() {
        let mut task = task(1_000_000_000, 0, 0, 500_000_000);
        task.delays[Cause::BlockIo] =
            Delay::new(Some(2), Some(Nanos(500_000_000)), Some(Nanos(2_000_000_000)));
        task.drop_impossible();
        assert_eq!(task.delays[Cause::BlockIo].total(), None);
    }

    #[test]
    fn a_sum_of_which_a_part_is_counted_is_a_lower_bound() {
        let mut sum = Task { accounting: Accounting::Unsure, ..task(1000, 300, 200, 0) };
        sum.add(&task(1000, 100, 100, 100));
        assert_eq!((sum.uncounted(), sum.is_partly_counted()), (1, true));
        let breakdown = sum.breakdown();
        assert_eq!((breakdown.block_io, breakdown.sleeping), (Some(Nanos(100)), None));
        assert_eq!(breakdown.unknown, Some(Nanos(1200)));
        // Threads of a main thread that is counted are counted.
        let mut sum = task(1000, 300, 200, 100);
        sum.add(&Task { accounting: Accounting::Unsure, ..task(1000, 300, 200, 0) });
        assert_eq!((sum.uncounted(), sum.breakdown().sleeping), (0, Some(Nanos(900))));
    }

    #[test]
    fn an_absent_part_makes_the_sum_absent() {
        let mut sum = task(1000, 300, 200, 100);
        let mut other = task(1000, 100, 100, 100);
        other.delays[Cause::BlockIo] = Delay::new(Some(1), None, None);
        sum.add(&other);
        assert_eq!((sum.thread_time, sum.threads, sum.on_cpu), (Nanos(2000), 2, Some(Nanos(400))));
        assert_eq!(sum.delays[Cause::BlockIo].total(), None);
        assert_eq!(sum.delays[Cause::RunQueue].max(), Some(Nanos(200)));
    }
}
