//! What every task did between two tables, those that ended in between included.

mod cgroups;
mod changed;
mod ended;
mod ended_threads;
mod matching;

use std::collections::HashMap;

use super::{Interval, Width, counter_delta};
use crate::sample::Clock;
use crate::task::Cause;
use crate::task::bounds::{Spans, Verdict, judge};
use crate::task::figure::{ABSENT, Figure};
use crate::task::table::TaskTable;
use crate::unit::Nanos;

pub use changed::Changed;
pub use ended::{Ended, Unrecorded, most_unrecorded};
pub use ended_threads::ended_threads_cpu;

/// What tasks did in an interval. Kept from tick to tick: filling it again allocates nothing that it does not grow by.
///
/// Of most tasks nothing changes: of those only that is known, and what they are is in the newer table. [`Self::of`] puts
/// both together.
#[derive(Clone, Debug)]
pub struct TaskChanges {
    /// The time between; none for a first table or across a suspend, where counters are absent.
    pub interval: Option<Interval>,
    /// How much of the interval each lived, in nanoseconds; living ones first, in the order of the newer table.
    wall_ns: Vec<u64>,
    /// How many live; the others ended.
    living: usize,
    /// Values left out because they cannot be.
    pub impossible_values: u64,
    /// Those that did anything, in their order.
    active: Vec<u32>,
    clock: Clock,
    /// Where each is among the active; [`IDLE`] where it is not.
    places: Vec<u32>,
    /// What the active did, a column a figure; those of what only grows and of the longest waits are filled.
    figures: [Vec<u64>; Figure::COUNT],
    ended: Vec<Ended>,
    /// By process: what threads that no record tells of were on a CPU.
    ended_threads: HashMap<u32, Nanos>,
    origins: Vec<Origin>,
    /// Ids of the older table and their places, sorted, and which of these are somebody's origin.
    by_pid: Vec<(u32, u32)>,
    is_taken: Vec<bool>,
    /// The same of the newer table; only filled if tasks ended.
    living_by_pid: Vec<(u32, u32)>,
}

impl Default for TaskChanges {
    fn default() -> Self {
        Self {
            interval: None,
            wall_ns: Vec::new(),
            living: 0,
            impossible_values: 0,
            active: Vec::new(),
            clock: Clock::default(),
            places: Vec::new(),
            figures: [const { Vec::new() }; Figure::COUNT],
            ended: Vec::new(),
            ended_threads: HashMap::new(),
            origins: Vec::new(),
            by_pid: Vec::new(),
            is_taken: Vec::new(),
            living_by_pid: Vec::new(),
        }
    }
}

/// In place of a place among the active.
const IDLE: u32 = u32::MAX;

/// Where a pid is, among pids in their order with their places.
fn place_in(by_pid: &[(u32, u32)], pid: u32) -> Option<usize> {
    let found = by_pid.binary_search_by_key(&pid, |(pid, _)| *pid).ok()?;
    Some(by_pid[found].1 as usize)
}

/// What a counter is subtracted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// This row of the older table.
    Row(u32),
    /// Zero: the task began in the interval.
    Birth,
    /// Nothing: it is older, and was not in the older table.
    Unknown,
}

/// What clocks and the order of two calls may put between them.
const SLACK: Nanos = Nanos(20_000_000);
/// Charged at a wait's end, what began before the interval may be longer than it; what waits longer than this is reported by
/// the kernel as hung.
const LONGEST_WAIT: Nanos = Nanos(120_000_000_000);

impl TaskChanges {
    /// Fills from two tables of one machine and what ended between them. Who ended after the newer table was read, or is in
    /// it as a zombie, is left in `ended` for the next time, so that nothing is counted twice or not at all.
    pub fn fill(&mut self, before: &TaskTable, now: &TaskTable, ended: &mut Vec<Ended>) {
        self.interval = Interval::between(&before.clock, &now.clock);
        self.clock = now.clock;
        self.wall_ns.clear();
        self.origins.clear();
        self.impossible_values = 0;
        self.living = now.len();
        self.find_origins(before, now);
        self.take_ended(before, now, ended);
        self.find_replaced(before, now);
        self.find_origins_of_ended(before);
        self.find_cgroups_of_ended(before, now);
        self.find_active(before, now);
        self.subtract(before, now);
        self.drop_impossible(before);
        self.find_ended_threads(before, now);
    }

    /// Time on a CPU, their whole lives, of those that ended and are counted in this interval.
    pub fn ended_cpu(&self) -> Nanos {
        Nanos(self.ended.iter().filter_map(Ended::cpu_ns).sum())
    }

    /// With the newer of the tables that it was filled from.
    pub fn of<'a>(&'a self, now: &'a TaskTable) -> Changed<'a> {
        debug_assert_eq!(self.living, now.len());
        Changed::new(self, now)
    }

    /// Those that ran or waited for a disk, or were not there before. Every other counter of a task is charged while it runs.
    fn find_active(&mut self, before: &TaskTable, now: &TaskTable) {
        const TELLING: [Figure; 4] = [
            Figure::ON_CPU,
            Figure::delay(Cause::RunQueue),
            Figure::delay(Cause::BlockIo),
            Figure::count(Cause::BlockIo),
        ];
        let columns = TELLING.map(|figure| (before.column(figure), now.column(figure)));
        self.active.clear();
        self.active.extend((0..).zip(&self.origins).filter_map(|(index, origin)| {
            let is_active = match origin {
                Origin::Row(place) => {
                    let (place, index) = (*place as usize, index as usize);
                    // Ended ones, behind the living, are not in the columns.
                    columns.iter().any(|(old, new)| new.get(index).is_none_or(|new| *new != old[place]))
                }
                Origin::Birth | Origin::Unknown => true,
            };
            is_active.then_some(index)
        }));
        self.places.clear();
        self.places.resize(self.origins.len(), IDLE);
        for (place, index) in (0..).zip(&self.active) {
            self.places[*index as usize] = place;
        }
    }

    fn elapsed(&self) -> Nanos {
        self.interval.map_or(Nanos(0), Interval::elapsed)
    }

    /// How much of the interval a task that began then has lived.
    fn span(&self, now: &Clock, start: Nanos) -> u64 {
        now.boottime.saturating_sub(start).0.min(self.elapsed().0)
    }

    fn subtract(&mut self, before: &TaskTable, now: &TaskTable) {
        for figure in Figure::all().filter(|figure| figure.is_counter() || figure.is_maximum()) {
            let (old, new) = (before.column(figure), now.column(figure));
            let column = &mut self.figures[figure.index()];
            column.clear();
            if self.interval.is_none() {
                column.resize(self.active.len(), ABSENT);
                continue;
            }
            column.extend(self.active.iter().map(|index| {
                let index = *index as usize;
                let from = match self.origins[index] {
                    Origin::Row(place) => old[place as usize],
                    Origin::Birth => 0,
                    Origin::Unknown => ABSENT,
                };
                // Ended ones brought their own.
                let value = match index.checked_sub(self.living) {
                    None => new[index],
                    Some(ended) => self.ended[ended].row.figures.raw(figure),
                };
                match (from, value) {
                    (ABSENT, _) | (_, ABSENT) => ABSENT,
                    // A maximum is told only if it is new.
                    (from, now) if figure.is_maximum() => {
                        if now > from {
                            now
                        } else {
                            ABSENT
                        }
                    }
                    // A record is made before the task is done: the sample of a zombie knows more, and was counted.
                    (from, now) if index >= self.living && now < from => 0,
                    (from, now) => counter_delta(from, now, Width::Bits64).unwrap_or(ABSENT),
                }
            }));
        }
    }

    /// Takes away, and counts, what a task cannot have waited, and reduces what covers time that is known to be another part.
    fn drop_impossible(&mut self, before: &TaskTable) {
        for place in 0..self.active.len() {
            let index = self.active[place] as usize;
            let known = |figure: Figure| {
                Some(self.figures[figure.index()][place]).filter(|value| *value != ABSENT).map(Nanos)
            };
            let wall = Nanos(self.wall_ns[index]);
            let run_queue = known(Figure::delay(Cause::RunQueue)).unwrap_or_default().min(wall);
            let on_cpu = known(Figure::ON_CPU).unwrap_or_default();
            for cause in Cause::ALL {
                let figure = Figure::delay(cause);
                let value = self.figures[figure.index()][place];
                if value == ABSENT || value == 0 {
                    continue;
                }
                let charged = Nanos(value);
                let earlier = self.earlier_wait(before, index, cause, charged > wall + SLACK);
                let spans = Spans { wall: wall + SLACK, on_cpu, run_queue, earlier };
                match judge(cause, charged, &spans) {
                    Verdict::Fits => {}
                    Verdict::Bounded(_) if earlier.0 > 0 => {}
                    Verdict::Bounded(room) => {
                        // The slack is for judging alone: the parts are to add up.
                        self.figures[figure.index()][place] = room.saturating_sub(SLACK).0;
                    }
                    Verdict::Impossible => {
                        self.figures[figure.index()][place] = ABSENT;
                        self.figures[Figure::maximum(cause).index()][place] = ABSENT;
                        self.impossible_values += 1;
                    }
                }
            }
        }
    }

    /// How long a task may have been waiting for a cause when the interval began: a wait is charged at its end, and so may be longer
    /// than the interval. Only a task that was found waiting can have been. taskstats does not say who was: a charge that is longer
    /// than the interval is believed then if it is of a single wait, and not longer than what the task had not been charged for.
    fn earlier_wait(&self, before: &TaskTable, index: usize, cause: Cause, is_longer: bool) -> Nanos {
        let Origin::Row(row) = self.origins[index] else { return Nanos(0) };
        let row = row as usize;
        let waiting = match (before.state(row), cause) {
            (Some(state), Cause::RunQueue) => state == b'R',
            (Some(state), _) => state == b'D',
            (None, _) => {
                let place = self.places[index] as usize;
                is_longer && self.figures[Figure::count(cause).index()][place] == 1
            }
        };
        if !waiting {
            return Nanos(0);
        }
        let total = |figure| before.get(row, figure).map(Nanos).unwrap_or_default();
        let accounted = total(Figure::ON_CPU)
            + total(Figure::delay(Cause::RunQueue))
            + total(Figure::delay(Cause::BlockIo)).min(LONGEST_WAIT);
        let age = before.clock.boottime.saturating_sub(before.key(row).start);
        age.saturating_sub(accounted).min(LONGEST_WAIT)
    }
}

#[cfg(test)]
mod tests;
