//! What threads did that came and went between two readings, where no record tells of them: a process's own count has it.

use std::collections::HashMap;

use super::{IDLE, Origin, TaskChanges};
use crate::task::figure::{ABSENT, Figure};
use crate::task::table::TaskTable;
use crate::unit::Nanos;

/// What two counts of the same time in ticks (of CONFIG_HZ=100, in which /proc tells a process's times) may differ by.
const TWO_TICKS: Nanos = Nanos(20_000_000);

/// How long threads that ended were on a CPU, from the time of a process with all that ever were in it, and that of its living
/// threads; none where it is no more than the clocks may disagree by. Each of these may lag by a tick.
pub fn ended_threads_cpu(whole: Nanos, living: Nanos, threads: u32) -> Option<Nanos> {
    let slack = TWO_TICKS + Nanos(u64::from(threads) * 4_000_000);
    Some(whole.saturating_sub(living)).filter(|rest| *rest > slack)
}

impl TaskChanges {
    /// Of each process whose own count both tables have.
    pub(super) fn find_ended_threads(&mut self, before: &TaskTable, now: &TaskTable) {
        self.ended_threads.clear();
        if now.process_cpu.is_empty() || self.interval.is_none() {
            return;
        }
        let mut living: HashMap<u32, (Nanos, u32)> = HashMap::new();
        for index in 0..self.living {
            let on_cpu = match self.places[index] {
                IDLE => 0,
                place => self.figures[Figure::ON_CPU.index()][place as usize],
            };
            let (sum, threads) = living.entry(now.tgid(index)).or_default();
            *sum += Nanos(if on_cpu == ABSENT { 0 } else { on_cpu });
            *threads += 1;
        }
        for leader in (0..self.living).filter(|index| now.pid(*index) == now.tgid(*index)) {
            let tgid = now.tgid(leader);
            let from = match self.origins[leader] {
                Origin::Row(_) => before.process_cpu.get(&tgid).copied(),
                Origin::Birth => Some(Nanos(0)),
                Origin::Unknown => None,
            };
            let Some((from, whole)) = from.zip(now.process_cpu.get(&tgid).copied()) else { continue };
            let (on_cpu, threads) = living.get(&tgid).copied().unwrap_or_default();
            let rest = ended_threads_cpu(whole.saturating_sub(from), on_cpu, threads);
            self.ended_threads.extend(rest.map(|rest| (tgid, rest)));
        }
    }
}
