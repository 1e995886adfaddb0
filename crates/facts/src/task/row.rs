//! One thread: its identity, and its figures.

use super::bounds;
use super::comm::Comm;
use super::figure::{Figure, FigureSet, Figures};
use super::sum::TaskSum;
use super::wait::Wait;
use super::{Accounting, TaskKey};
use crate::rate::{Width, counter_delta};
use crate::unit::Nanos;

/// The parent of the kernel's own threads, and itself one.
pub(super) const KTHREADD: u32 = 2;
/// A policy that gives way to nearly everything: sched(7).
const SCHED_IDLE: u8 = 5;

/// One thread, as a reader puts it into the store.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskRow {
    /// Which.
    pub key: TaskKey,
    /// Its process.
    pub tgid: Option<u32>,
    /// The parent process.
    pub ppid: Option<u32>,
    /// Real user id.
    pub uid: Option<u32>,
    /// The name it gave itself.
    pub comm: Comm,
    /// `R`, `S`, `D`, `Z` … as /proc/PID/stat prints it; `None` if the source does not say.
    pub state: Option<u8>,
    /// -20 to 19.
    pub nice: i8,
    /// SCHED_OTHER 0, FIFO 1, RR 2, BATCH 3, IDLE 5, DEADLINE 6.
    pub policy: Option<u8>,
    /// The cgroup's id; its highest bit set where it is of version 1's memory hierarchy.
    pub cgroup: Option<u64>,
    /// The state of delay accounting, the run queue's aside.
    pub accounting: Accounting,
    /// How long it had lived when it was read; by taskstats without the time that the machine was suspended.
    pub wall: Nanos,
    /// What it waits for, if it sleeps and the source says it.
    pub wait: Option<Wait>,
    /// The rest.
    pub figures: Figures,
}

impl TaskRow {
    /// No task.
    pub const NONE: Self = Self {
        key: TaskKey { pid: 0, start: Nanos(0) },
        tgid: None,
        ppid: None,
        uid: None,
        comm: Comm([0; 16]),
        state: None,
        nice: 0,
        policy: None,
        cgroup: None,
        accounting: Accounting::Unsure,
        wall: Nanos(0),
        wait: None,
        figures: Figures::NONE,
    };

    /// The process; the thread's own id if the source does not say.
    pub fn process(&self) -> u32 {
        self.tgid.unwrap_or(self.key.pid)
    }

    /// Returns true if it gives way to tasks of ordinary priority: nice, or of the policy SCHED_IDLE.
    pub fn is_of_low_priority(&self) -> bool {
        self.nice > 0 || self.policy == Some(SCHED_IDLE)
    }

    /// Sets the memory: bytes that are resident and bytes of address space.
    pub fn set_memory(&mut self, memory: Option<(u64, u64)>) {
        let (resident, virtual_bytes) = memory.unzip();
        self.figures.set(Figure::RESIDENT_BYTES, resident);
        self.figures.set(Figure::VIRTUAL_BYTES, virtual_bytes);
    }

    /// Returns the values that are neither a counter nor a maximum.
    pub(crate) fn identity(&self) -> impl PartialEq + use<> {
        let gauges = [Figure::RESIDENT_BYTES, Figure::VIRTUAL_BYTES].map(|figure| self.figures.get(figure));
        let ids = (self.tgid, self.ppid, self.uid, self.cgroup);
        let state = (self.state, self.wait);
        (ids, self.comm, state, self.nice, self.policy, self.accounting, gauges, self.figures.absent())
    }

    /// Returns the activity after an earlier reading of the same task: a row with the increases of the counters that both have, and with
    /// its own other figures.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut rest = *self;
        rest.wall = self.wall.saturating_sub(before.wall);
        FigureSet::COUNTERS.for_each(|figure| {
            if let (Some(from), Some(now)) = (before.figures.get(figure), self.figures.get(figure)) {
                rest.figures.set(figure, Some(counter_delta(from, now, Width::Bits64).unwrap_or(0)));
            }
        });
        rest
    }

    /// Returns the activity since it started. Delays that cannot be true are dropped; `is_counted` says whether the kernel counts its
    /// delays.
    pub fn sum_since_start(&self, is_counted: bool) -> TaskSum {
        let mut figures = self.figures;
        let dropped = bounds::drop_impossible(&mut figures, self.wall, Nanos(0), |_, _| Nanos(0));
        let mut sum = TaskSum::of_thread(&figures, self.wall, is_counted);
        sum.impossible_values = dropped;
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Cause;

    fn block_io(wall: u64, on_cpu: u64, run_queue: u64, total: u64, max: u64) -> (Option<Nanos>, u32) {
        let mut row = TaskRow { wall: Nanos(wall), ..TaskRow::default() };
        for (figure, value) in [
            (Figure::ON_CPU, on_cpu),
            (Figure::delay(Cause::RunQueue), run_queue),
            (Figure::delay(Cause::BlockIo), total),
            (Figure::maximum(Cause::BlockIo), max),
            (Figure::count(Cause::BlockIo), 2),
        ] {
            row.figures.set(figure, Some(value));
        }
        let sum = row.sum_since_start(true);
        assert!(sum.delay(Cause::RunQueue).total().is_some());
        assert!(sum.breakdown().whole <= row.wall);
        (sum.delay(Cause::BlockIo).total(), sum.impossible_values)
    }

    #[test]
    fn a_wait_longer_than_the_clock_is_absent_and_counted() {
        assert_eq!(
            block_io(250_000_000, 100_000_000, 100_000_000, 3_600_000_000_000, 3_600_000_000_000),
            (None, 1)
        );
    }

    #[test]
    fn the_parts_of_a_second_are_at_most_a_second() {
        let found = block_io(1_000_000_000, 650_000_000, 220_000_000, 690_000_000, 690_000_000);
        assert_eq!(found, (Some(Nanos(130_000_000)), 0));
    }

    #[test]
    fn a_maximum_that_cannot_be_true_condemns_the_total() {
        assert_eq!(block_io(1_000_000_000, 0, 0, 500_000_000, 2_000_000_000), (None, 1));
    }
}
