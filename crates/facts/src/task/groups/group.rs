//! Groups, the threads of a process in one of them, and a thread there.

use crate::rate::Interval;
use crate::task::figure::{Figure, FigureSet};
use crate::task::{Cause, TaskSum};
use crate::unit::Nanos;

/// A figure that the threads of a process share: memory.
pub(super) const SHARED: [Figure; 2] = [Figure::RESIDENT_BYTES, Figure::VIRTUAL_BYTES];

/// A task in a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) unit: u32,
    /// Its place in the unit's list.
    pub(super) place: u32,
    pub(super) absent: FigureSet,
    /// The kernel counts its delays.
    pub(super) is_counted: bool,
}

/// The threads of one process in one group.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) group: u32,
    /// Its place in the group's list.
    pub(super) place: u32,
    pub(super) tgid: u32,
    pub(super) slots: Vec<u32>,
    /// The slot of the main thread.
    pub(super) leader: Option<u32>,
    /// Threads whose delays are counted.
    pub(super) counted: u32,
    pub(super) memory: [Option<u64>; SHARED.len()],
    /// The round in which it was read, and whether the main thread showed it.
    pub(super) memory_of: (u32, bool),
}

impl Unit {
    /// Returns true if delays of the main thread are counted. Those of its other threads are then counted, too: they started later.
    pub(super) fn is_leader_counted(&self, members: &[Option<Member>]) -> bool {
        let leader = self.leader.and_then(|slot| members[slot as usize]);
        leader.is_some_and(|leader| leader.is_counted)
    }

    /// Threads whose delays are not counted.
    pub(super) fn uncounted(&self, members: &[Option<Member>]) -> u32 {
        if self.is_leader_counted(members) { 0 } else { self.slots.len() as u32 - self.counted }
    }

    /// The slots of its threads, the main thread first.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        let leader = self.leader;
        leader.into_iter().chain(self.slots.iter().copied().filter(move |slot| Some(*slot) != leader))
    }
}

/// The living threads of a group that did something.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy {
    pub(super) threads: u32,
    /// By cause, those whose delay is absent.
    pub(super) absent: [u32; Cause::ALL.len()],
    /// Threads whose delays are not counted.
    pub(super) uncounted: u32,
}

/// Tasks that are one row.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) key: u64,
    /// The number by which it is ordered.
    pub(super) rank: u32,
    pub(super) units: Vec<u32>,
    pub(super) threads: u32,
    pub(super) uncounted: u32,
    /// The figures that members lack, with the number of members: mostly one entry.
    absent: Vec<(FigureSet, u32)>,
    /// Its place among the active, if it is active.
    pub(super) active: u32,
    /// The sum of its processes' memory, and the number of processes whose memory is not known.
    memory: [(u64, u32); SHARED.len()],
}

impl Group {
    /// Without members.
    pub(super) fn new(key: u64, rank: u32) -> Self {
        Self { key, rank, active: u32::MAX, ..Self::default() }
    }

    /// The figures that a member lacks.
    pub(super) fn absent(&self) -> FigureSet {
        self.absent.iter().fold(FigureSet::default(), |all, (absent, _)| all.union(*absent))
    }

    /// The number of members that lack a figure.
    pub(super) fn absent_of(&self, figure: Figure) -> u32 {
        self.absent.iter().filter(|(absent, _)| absent.contains(figure)).map(|(_, members)| members).sum()
    }

    /// Adds the members that did nothing to the sum of the others.
    pub(super) fn add_idle(&self, sum: &mut TaskSum, busy: &Busy, interval: Option<Interval>) {
        let idle = self.threads - busy.threads;
        if idle == 0 {
            return;
        }
        let uncounted = self.uncounted.saturating_sub(busy.uncounted);
        let unknown = |cause: Cause| {
            if interval.is_none() {
                return idle;
            }
            let absent = self.absent_of(Figure::delay(cause)).saturating_sub(busy.absent[cause as usize]);
            let uncounted = if cause == Cause::RunQueue { 0 } else { uncounted };
            absent.max(uncounted).min(idle)
        };
        let without_interval = if interval.is_none() { FigureSet::COUNTERS } else { FigureSet::default() };
        let elapsed = interval.map_or(Nanos(0), Interval::elapsed);
        sum.add_idle(idle, elapsed, self.absent().union(without_interval), unknown, uncounted);
    }

    /// Memory of its processes together; `None` if it is not known of one of them.
    pub(super) fn memory(&self) -> [Option<u64>; SHARED.len()] {
        self.memory.map(|(sum, absent)| (absent == 0).then_some(sum))
    }

    pub(super) fn count_memory(&mut self, memory: [Option<u64>; SHARED.len()], is_added: bool) {
        for ((sum, absent), value) in self.memory.iter_mut().zip(memory) {
            match (value, is_added) {
                (Some(value), true) => *sum = sum.saturating_add(value),
                (Some(value), false) => *sum = sum.saturating_sub(value),
                (None, true) => *absent += 1,
                (None, false) => *absent -= 1,
            }
        }
    }

    pub(super) fn count_absent(&mut self, absent: FigureSet, is_added: bool) {
        let entry = self.absent.iter().position(|(other, _)| *other == absent);
        match (entry, is_added) {
            (Some(entry), true) => self.absent[entry].1 += 1,
            (None, true) => self.absent.push((absent, 1)),
            (Some(entry), false) => {
                self.absent[entry].1 -= 1;
                if self.absent[entry].1 == 0 {
                    self.absent.swap_remove(entry);
                }
            }
            (None, false) => {}
        }
    }
}
