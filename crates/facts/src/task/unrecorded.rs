//! CPU time of ended tasks that no exit record contains: used after the record was made, or of a task without a record.
//!
//! It is the CPU time of all tasks that the kernel has released, minus that of their records. A record comes before its task is
//! released, so that the difference is only counted once it is positive.

use super::figure::Figure;
use super::row::TaskRow;
use super::store::TaskStore;
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
        self.recorded += Nanos(store.ended().filter_map(|ended| ended.record().cpu_ns()).sum());
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
