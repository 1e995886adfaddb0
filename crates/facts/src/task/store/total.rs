//! What all tasks did together.

use super::{Origin, TaskStore};
use crate::task::Accounting;
use crate::task::figure::Figure;
use crate::task::sum::TaskSum;
use crate::unit::Nanos;

impl TaskStore {
    /// What all tasks did in the last interval, those that ended in it among them. Tasks whose past is not known are left out, and
    /// those that did nothing.
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
}
