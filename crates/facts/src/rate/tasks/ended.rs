//! Tasks that ended, and what no record told of them.

use std::collections::HashSet;

use super::SLACK;
use crate::task::figure::Figure;
use crate::task::table::{TaskRow, TaskTable};
use crate::unit::Nanos;

/// A task that ended, with its last account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// The account at its end. Its start is the latest that can be.
    pub row: TaskRow,
    /// How long it lived, without what the machine slept.
    pub wall: Nanos,
    /// Between which times on the boot clock it ended: when the records were read before, and when this one was read.
    pub between: (Nanos, Nanos),
    /// A tick: by so much may the record of a task that slept lack time on a CPU.
    pub tick: Nanos,
}

impl Ended {
    /// Nanoseconds on a CPU in its whole life, as its record tells it.
    pub fn cpu_ns(&self) -> Option<u64> {
        recorded_cpu_ns(|figure| self.row.figures.get(figure))
    }

    /// Time on a CPU that its record may lack, of its whole life. A task that never gave up the CPU by itself has not slept: all that
    /// is not accounted for may be.
    pub fn most_unrecorded(&self) -> Nanos {
        most_unrecorded(self.wall, self.row.figures.get(Figure::VOLUNTARY_SWITCHES), self.tick)
    }

    /// Whether it may have begun then. It may have lived through any of the time that the machine has slept.
    pub(super) fn can_have_begun(&self, start: Nanos, suspended: Nanos) -> bool {
        let end = start + self.wall;
        end <= self.between.1 + SLACK && self.between.0 <= end + suspended + SLACK
    }

    /// Whether, if it began then, it may have ended after this time.
    pub(super) fn can_have_ended_after(&self, start: Nanos, time: Nanos, suspended: Nanos) -> bool {
        start + self.wall + suspended + SLACK >= time
    }
}

/// The same from the parts of a record.
pub fn most_unrecorded(wall: Nanos, voluntary_switches: Option<u64>, tick: Nanos) -> Nanos {
    if voluntary_switches == Some(0) { wall } else { tick.min(wall) }
}

/// A record is made before the last of it is charged to the precise figure, when the ticks know better.
pub(super) fn recorded_cpu_ns(figure: impl Fn(Figure) -> Option<u64>) -> Option<u64> {
    let in_ticks = figure(Figure::USER).zip(figure(Figure::SYSTEM));
    in_ticks.map(|(user, system)| user + system).or_else(|| figure(Figure::ON_CPU))
}

/// What ended tasks used after their records were made, or without one: what the kernel forgot them with, less what their
/// records told. A record comes first, and what it told is waited for.
#[derive(Clone, Debug, Default)]
pub struct Unrecorded {
    /// What had been forgotten at the first table.
    baseline: Option<Nanos>,
    recorded: Nanos,
    told: Nanos,
    /// Zombies of the first table, whose records had come before: they are told with these nanoseconds when they go.
    zombies: Vec<(u32, u64)>,
}

impl Unrecorded {
    /// Of the interval that ends with a table: from what all that the kernel has forgotten used in their lives, and what the
    /// records tell that were taken for this interval. The record of a zombie is taken when it goes, as the kernel forgets it.
    pub fn advance(&mut self, now: &TaskTable, taken: Nanos) -> Option<Nanos> {
        let Some(baseline) = self.baseline else {
            self.baseline = now.ended_on_cpu;
            let zombies =
                (0..now.len()).filter(|index| now.state(*index).is_some_and(|state| b"ZX".contains(&state)));
            self.zombies =
                zombies.map(|index| (now.pid(index), now.get(index, Figure::ON_CPU).unwrap_or(0))).collect();
            return now.ended_on_cpu.map(|_| Nanos(0));
        };
        if !self.zombies.is_empty() {
            let there: HashSet<u32> = now.pids().iter().copied().collect();
            let recorded = &mut self.recorded;
            self.zombies.retain(|(pid, on_cpu)| {
                let is_there = there.contains(pid);
                *recorded += if is_there { Nanos(0) } else { Nanos(*on_cpu) };
                is_there
            });
        }
        self.recorded += taken;
        let all = now.ended_on_cpu?.saturating_sub(baseline).saturating_sub(self.recorded);
        let fresh = all.saturating_sub(self.told);
        self.told += fresh;
        Some(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_record_told_is_told_once() {
        let mut table = TaskTable::default();
        let mut zombie = TaskRow { state: Some(b'Z'), ..TaskRow::default() };
        zombie.key.pid = 7;
        zombie.figures.set(Figure::ON_CPU, Some(500));
        let mut unrecorded = Unrecorded::default();
        let mut advance = |zombies: &[TaskRow], ended_on_cpu: Option<u64>, taken: u64| {
            table.clear();
            zombies.iter().for_each(|row| table.push(row));
            table.ended_on_cpu = ended_on_cpu.map(Nanos);
            unrecorded.advance(&table, Nanos(taken)).map(|nanos| nanos.0)
        };
        assert_eq!(advance(&[zombie], None, 100), None);
        // Whatever had ended before the first table is not this run's.
        assert_eq!(advance(&[zombie], Some(1_000), 0), Some(0));
        // A tenth more than the records tell, while a zombie exists; nothing new; a record before its task is forgotten.
        assert_eq!(advance(&[zombie], Some(1_110), 100), Some(10));
        assert_eq!(advance(&[zombie], Some(1_110), 0), Some(0));
        assert_eq!(advance(&[zombie], Some(1_110), 40), Some(0));
        assert_eq!(advance(&[zombie], Some(1_155), 0), Some(5));
        // The zombie goes, of which no record has come.
        assert_eq!(advance(&[], Some(1_655), 0), Some(0));
    }
}
