//! The activity of all tasks together.

use super::{Origin, TaskStore};
use crate::task::figure::Figure;
use crate::task::sum::TaskSum;
use crate::task::{Accounting, Cause};
use crate::unit::Nanos;

impl TaskStore {
    /// Returns the activity of all tasks in the last interval, those that ended in it among them. Tasks whose past is not known
    /// are left out, and those that did nothing.
    pub fn total(&self) -> TaskSum {
        let mut total = TaskSum::default();
        for index in (0..self.changes.len()).filter(|index| self.is_current(*index)) {
            let change = &self.changes[index];
            if change.origin != Origin::Unknown {
                let is_counted = self.slots[change.slot].row.accounting == Accounting::On;
                total.add(&TaskSum::of_thread(&change.delta, change.wall, is_counted));
            }
        }
        for ended in self.ended.iter().filter(|ended| ended.origin != Origin::Unknown) {
            let is_counted = ended.row().accounting == Accounting::On;
            total.add(&TaskSum::of_thread(&ended.delta, Nanos(ended.wall_ns), is_counted));
        }
        if total.get(Figure::ON_CPU).is_some() {
            self.ended_threads.values().for_each(|on_cpu| total.add_cpu(*on_cpu));
        }
        total
    }

    /// How long tasks of low priority waited for a CPU in the last interval; `None` if it is not known of any task.
    pub fn low_priority_run_queue(&self) -> Option<Nanos> {
        const RUN_QUEUE: Figure = Figure::delay(Cause::RunQueue);
        let living = self.changes().filter(|change| change.origin != Origin::Unknown);
        let living = living.map(|change| (&self.slots[change.slot].row, &change.delta));
        let ended = self.ended.iter().filter(|ended| ended.origin != Origin::Unknown);
        let ended = ended.map(|ended| (ended.row(), &ended.delta));
        let mut waited = None;
        for (row, delta) in living.chain(ended) {
            if let Some(delay) = delta.get(RUN_QUEUE) {
                let part = if row.is_of_low_priority() { delay } else { 0 };
                *waited.get_or_insert(Nanos(0)) += Nanos(part);
            }
        }
        waited
    }

    /// The number of living tasks in uninterruptible sleep. Threads of the kernel are left out: some always sleep so. `None` if the reader
    /// does not see states.
    pub fn uninterruptible(&self) -> Option<usize> {
        match self.count_of_state(b'D') {
            _ if !self.sees_states() => None,
            0 => Some(0),
            _ => Some(self.rows().filter(|row| row.state == Some(b'D') && !self.is_of_kernel(row)).count()),
        }
    }
}
