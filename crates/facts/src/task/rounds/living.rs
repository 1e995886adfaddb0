//! The numbers of living tasks, as rounds add to them.

use std::ops::Range;

use foldhash::HashMap;

use super::fields::{Fields, LIVING};
use super::table::Table;

/// The numbers of each task. They stand side by side, so that a column of a round is added in one pass: most of its numbers, and most
/// columns, are 0.
#[derive(Debug, Default)]
pub(super) struct Living {
    /// Where the numbers of a pid are.
    places: HashMap<u32, usize>,
    fields: Vec<Fields>,
    /// Places that no task has any more.
    free: Vec<usize>,
}

impl Living {
    /// The numbers of a task.
    pub(super) fn get(&self, pid: u32) -> Option<&Fields> {
        self.places.get(&pid).map(|place| &self.fields[*place])
    }

    /// Returns the fields of all tasks.
    pub(super) fn all(&self) -> impl Iterator<Item = &Fields> {
        self.places.values().map(|place| &self.fields[*place])
    }

    /// All pids.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.places.keys().copied()
    }

    pub(super) fn remove(&mut self, pid: u32) {
        self.free.extend(self.places.remove(&pid));
    }

    /// Adds the differences in some rows of a table; `pids` are the tasks of these rows. New tasks begin with 0.
    pub(super) fn add(&mut self, pids: &[u32], table: &Table, rows: Range<usize>) {
        let places: Vec<usize> = pids.iter().map(|pid| self.place(*pid)).collect();
        for (column, numbers) in table.columns().iter().enumerate().take(LIVING) {
            let numbers = &numbers[rows.clone()];
            // The pid is no difference.
            if column == 0 {
                places.iter().zip(numbers).for_each(|(place, pid)| self.fields[*place][0] = *pid);
            } else if numbers.iter().any(|number| *number != 0) {
                for (place, difference) in places.iter().zip(numbers) {
                    let number = &mut self.fields[*place][column];
                    *number = number.wrapping_add(*difference);
                }
            }
        }
    }

    /// Where the numbers of a pid are, or can be.
    fn place(&mut self, pid: u32) -> usize {
        let Self { places, fields, free } = self;
        *places.entry(pid).or_insert_with(|| match free.pop() {
            Some(place) => {
                fields[place] = [0; LIVING];
                place
            }
            None => {
                fields.push([0; LIVING]);
                fields.len() - 1
            }
        })
    }
}
