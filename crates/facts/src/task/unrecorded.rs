//! CPU time of ended tasks that no exit record contains: used after the record was made, or of a task without a record.
//!
//! It is the CPU time of all tasks that the kernel has released, minus what was counted of them while they lived and by their records. A
//! record comes before its task is released, so that the difference is only counted once it is positive. Most of it is the time in which a
//! task gives its memory back: a tenth of the life of a `true`. With it the figures of a storm of execs add up to what wait4(2) reports,
//! and to what the scheduler counts, within a hundredth.

use super::figure::Figure;
use super::row::TaskRow;
use super::store::{EndedTask, TaskStore};
use crate::unit::Nanos;

/// Calculates it from round to round.
#[derive(Clone, Debug, Default)]
pub struct Unrecorded {
    /// CPU time of the tasks that had been released at the first round.
    baseline: Option<Nanos>,
    recorded: Nanos,
    reported: Nanos,
    /// Zombies of the first round with their CPU time in nanoseconds. Their records had come before.
    zombies: Vec<(u32, u64)>,
}

impl Unrecorded {
    /// The CPU time of the round that the store has finished; `None` if the reader does not count the CPU time of released tasks.
    pub fn advance(&mut self, store: &TaskStore) -> Option<Nanos> {
        let Some(baseline) = self.baseline else {
            self.baseline = store.ended_on_cpu;
            let is_zombie = |row: &&TaskRow| row.state.is_some_and(|state| b"ZX".contains(&state));
            let zombies = store.rows().filter(is_zombie);
            self.zombies =
                zombies.map(|row| (row.key.pid, row.figures.get(Figure::ON_CPU).unwrap_or(0))).collect();
            return store.ended_on_cpu.map(|_| Nanos(0));
        };
        let recorded = &mut self.recorded;
        self.zombies.retain(|(pid, on_cpu)| {
            let is_there = store.row(*pid).is_some();
            *recorded += if is_there { Nanos(0) } else { Nanos(*on_cpu) };
            is_there
        });
        self.recorded += Nanos(store.ended().filter_map(EndedTask::counted_cpu_ns).sum());
        let all = store.ended_on_cpu?.saturating_sub(baseline).saturating_sub(self.recorded);
        let new = all.saturating_sub(self.reported);
        self.reported += new;
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Clock;
    use crate::task::TaskKey;
    use crate::task::exit_record::ExitRecord;

    /// The ticks of a task's whole life are 100 less than the precise counter, with which its life was counted.
    #[test]
    fn what_was_counted_of_a_living_task_is_not_unrecorded() {
        let at = |second: u64| Nanos(second * Nanos::SECOND.0);
        let clock = |second| Clock { monotonic: at(second), boottime: at(second), realtime: at(second) };
        let row = |on_cpu, user| {
            let key = TaskKey { pid: 9, start: at(10) };
            let mut row = TaskRow { key, wall: at(90), state: Some(b'R'), ..TaskRow::default() };
            let figures = [(Figure::ON_CPU, on_cpu), (Figure::USER, user), (Figure::SYSTEM, 0)];
            figures.into_iter().for_each(|(figure, value)| row.figures.set(figure, Some(value)));
            row
        };
        let (mut store, mut unrecorded) = (TaskStore::default(), Unrecorded::default());
        for second in [100, 101] {
            store.begin(clock(second));
            store.put(&row(500, 400));
            store.ended_on_cpu = Some(Nanos(1_000));
            store.finish(&mut Vec::new());
            assert_eq!(unrecorded.advance(&store), Some(Nanos(0)));
        }
        store.begin(clock(102));
        store.remove(9);
        store.ended_on_cpu = Some(Nanos(1_515));
        let exit = crate::linux::taskstats::ExitInfo::default();
        let record = ExitRecord {
            row: TaskRow { wall: at(92), ..row(509, 410) },
            exit,
            between: (at(101), at(102)),
            tick: Nanos(4),
        };
        store.finish(&mut vec![record]);
        let ended: Vec<_> = store.ended().map(EndedTask::cpu_ns).collect();
        assert_eq!((ended, unrecorded.advance(&store)), (vec![Some(10)], Some(Nanos(5))));
    }

    #[test]
    fn cpu_time_without_a_record_is_reported_once() {
        let mut zombie = TaskRow { state: Some(b'Z'), ..TaskRow::default() };
        zombie.key.pid = 7;
        zombie.figures.set(Figure::ON_CPU, Some(500));
        let mut unrecorded = Unrecorded::default();
        let mut store = TaskStore::default();
        let mut seconds = 100;
        let mut advance = |zombies: &[TaskRow], ended_on_cpu: Option<u64>, recorded: u64| {
            seconds += 1;
            let at = |seconds: u64| Nanos(seconds * Nanos::SECOND.0);
            store.begin(Clock { monotonic: at(seconds), boottime: at(seconds), realtime: at(seconds) });
            zombies.iter().for_each(|row| store.put(row));
            store.remove_stale();
            store.ended_on_cpu = ended_on_cpu.map(Nanos);
            let key = TaskKey { pid: 9, start: at(seconds - 1) };
            let mut row = TaskRow { key, ..TaskRow::default() };
            row.figures.set(Figure::ON_CPU, Some(recorded));
            let between = (at(seconds - 1), at(seconds));
            let record = ExitRecord {
                row: TaskRow { wall: Nanos(9), ..row },
                exit: crate::linux::taskstats::ExitInfo::default(),
                between,
                tick: Nanos(4),
            };
            store.finish(&mut if recorded > 0 { vec![record] } else { Vec::new() });
            unrecorded.advance(&store).map(|nanos| nanos.0)
        };
        assert_eq!(advance(&[zombie], None, 100), None);
        // What had ended before the first round does not count.
        assert_eq!(advance(&[zombie], Some(1_000), 0), Some(0));
        // A tenth more than the records contain, while a zombie exists; nothing new; a record before its task is released.
        assert_eq!(advance(&[zombie], Some(1_110), 100), Some(10));
        assert_eq!(advance(&[zombie], Some(1_110), 0), Some(0));
        assert_eq!(advance(&[zombie], Some(1_110), 40), Some(0));
        assert_eq!(advance(&[zombie], Some(1_155), 0), Some(5));
        // The zombie is released, without a record.
        assert_eq!(advance(&[], Some(1_655), 0), Some(0));
    }
}
