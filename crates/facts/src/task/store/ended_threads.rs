//! CPU time of threads that started and ended between two rounds, if no exit record reports them: the CPU time of their process
//! contains it.

use foldhash::HashMap;

use super::{Origin, TaskStore};
use crate::task::figure::Figure;
use crate::unit::Nanos;

/// The most by which two counts of the same time may differ: ticks of CONFIG_HZ=100, in which /proc reports a process's times.
const TWO_TICKS: Nanos = Nanos(20_000_000);

/// CPU time of the ended threads of a process, from that of the process with all threads that it ever had and that of its living
/// threads. `None` if it is no more than the clocks may disagree by: each of them may lag by a tick.
pub fn ended_threads_cpu(whole: Nanos, living: Nanos, threads: u32) -> Option<Nanos> {
    let slack = TWO_TICKS + Nanos(u64::from(threads) * 4_000_000);
    Some(whole.saturating_sub(living)).filter(|rest| *rest > slack)
}

impl TaskStore {
    /// Finds it for each process whose CPU time was read in both rounds.
    pub(super) fn find_ended_threads(&mut self) {
        self.ended_threads.clear();
        if self.process_cpu.is_empty() || self.interval.is_none() {
            return;
        }
        // Threads that did nothing add nothing but their number, by which the clocks may disagree.
        let mut threads: HashMap<u32, u32> = HashMap::default();
        for row in self.rows() {
            *threads.entry(row.process()).or_default() += 1;
        }
        let mut living: HashMap<u32, Nanos> = HashMap::default();
        let mut origins: HashMap<u32, (Origin, bool)> = HashMap::default();
        for change in &self.changes {
            let row = &self.slots[change.slot].row;
            let on_cpu = change.delta.get(Figure::ON_CPU).unwrap_or(0);
            *living.entry(row.process()).or_default() += Nanos(on_cpu);
            if row.key.pid == row.process() {
                let is_new = self.is_in_interval(row.key.start);
                origins.insert(row.key.pid, (change.origin, is_new));
            }
        }
        for (tgid, whole) in &self.process_cpu {
            let from = match origins.get(tgid) {
                Some((Origin::Start, true)) => Some(Nanos(0)),
                // A thread that took over the id of its main thread is of an older process.
                None | Some((Origin::Row | Origin::Start, _)) => self.process_cpu_before.get(tgid).copied(),
                Some((Origin::Unknown, _)) => None,
            };
            let Some(from) = from else { continue };
            let on_cpu = living.get(tgid).copied().unwrap_or_default();
            let count = threads.get(tgid).copied().unwrap_or(0);
            let rest = ended_threads_cpu(whole.saturating_sub(from), on_cpu, count);
            self.ended_threads.extend(rest.map(|rest| (*tgid, rest)));
        }
    }
}
