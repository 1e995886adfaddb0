//! Access to the content of a store.

use foldhash::HashMap;

use super::{Change, EndedTask, TaskStore};
use crate::rate::Interval;
use crate::sample::Clock;
use crate::task::figure::{Figure, Figures};
use crate::task::row::KTHREADD;
use crate::task::{TaskKey, TaskRow};
use crate::unit::Nanos;

/// What a living task did in the last interval.
#[derive(Clone, Copy, Debug)]
pub struct Activity<'s> {
    row: &'s TaskRow,
    /// `None`: nothing.
    delta: Option<&'s Figures>,
    has_interval: bool,
}

impl Activity<'_> {
    /// Returns a figure: its change in the interval (counters, maxima that are new), or its value now (other figures).
    pub fn delta(&self, figure: Figure) -> Option<u64> {
        if figure.is_of_process() {
            return self.row.figures.get(figure);
        }
        if let Some(delta) = self.delta {
            return delta.get(figure);
        }
        let is_known = self.has_interval && !figure.is_maximum() && self.row.figures.get(figure).is_some();
        is_known.then_some(0)
    }
}

impl TaskStore {
    /// Returns true if a task was put in this round.
    pub fn was_put(&self, pid: u32) -> bool {
        self.by_pid.get(&pid).is_some_and(|index| self.slots[*index].put_in == self.pass)
    }

    /// The time of the round before the last.
    pub fn clock_before(&self) -> Clock {
        self.clock_before
    }

    /// The number of living tasks.
    pub fn len(&self) -> usize {
        self.by_pid.len()
    }

    /// Returns true if there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.by_pid.is_empty()
    }

    /// The row of a living task.
    pub fn row(&self, pid: u32) -> Option<&TaskRow> {
        self.by_pid.get(&pid).map(|index| &self.slots[*index].row)
    }

    /// The time of the last round.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The time between the last two rounds; `None` after the first round and across a suspend, where there are no deltas.
    pub fn interval(&self) -> Option<Interval> {
        self.interval
    }

    /// Returns a figure of a living task as [`Activity::delta`] does.
    pub fn delta(&self, pid: u32, figure: Figure) -> Option<u64> {
        self.activity(pid)?.delta(figure)
    }

    /// Returns what a living task did in the last interval.
    pub fn activity(&self, pid: u32) -> Option<Activity<'_>> {
        let slot = &self.slots[*self.by_pid.get(&pid)?];
        let delta = (slot.changed_in == self.round).then(|| &self.changes[slot.change as usize].delta);
        Some(Activity { row: &slot.row, delta, has_interval: self.interval.is_some() })
    }

    /// Returns the counters of a living task that grew in the last interval. `None` if it did nothing, or is not known.
    pub fn deltas(&self, pid: u32) -> Option<&Figures> {
        self.activity(pid)?.delta
    }

    /// An ended task, by its place among [`Self::ended`].
    pub(crate) fn ended_task(&self, place: usize) -> &EndedTask {
        &self.ended[place]
    }

    /// The number of living tasks in a state, by its letter.
    pub fn count_of_state(&self, state: u8) -> u32 {
        self.by_state.get(&state).copied().unwrap_or(0)
    }

    /// Returns true if the state of any task was ever known.
    pub(super) fn sees_states(&self) -> bool {
        !self.by_state.is_empty()
    }

    /// Returns true if the kernel's own threads are among the tasks. In a PID namespace the number of kthreadd is another process.
    pub(crate) fn has_kernel_threads(&self) -> bool {
        let is_kthreadd = |row: &TaskRow| row.ppid == Some(0) && row.comm.is_named("kthreadd");
        self.row(KTHREADD).is_some_and(is_kthreadd)
    }

    /// Returns true if a task is a thread of the kernel: all of them come from kthreadd.
    pub fn is_of_kernel(&self, row: &TaskRow) -> bool {
        (row.key.pid == KTHREADD || row.ppid == Some(KTHREADD)) && self.has_kernel_threads()
    }

    /// The rows of all living tasks. Touches all slots.
    pub fn rows(&self) -> impl Iterator<Item = &TaskRow> {
        self.used_slots().map(|index| &self.slots[index].row)
    }

    /// The number of the current round.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The slots that are in use.
    pub(crate) fn used_slots(&self) -> impl Iterator<Item = u32> {
        (0..self.slots.places()).filter(|index| self.slots[*index].is_used)
    }

    /// The round in which anything was found out about the task in a slot.
    pub(crate) fn seen_in(&self, slot: u32) -> u32 {
        self.slots[slot].seen_in
    }

    /// The row in a slot; `None` if it is free.
    pub(crate) fn row_in(&self, slot: u32) -> Option<&TaskRow> {
        Some(&self.slots[slot]).filter(|slot| slot.is_used).map(|slot| &slot.row)
    }

    /// The slot of a living task.
    pub(crate) fn slot_of(&self, pid: u32) -> Option<u32> {
        self.by_pid.get(&pid).copied()
    }

    /// Slots that were filled or emptied in this round, or of which something other than counters changed; some more than once.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// The rows of living tasks that did something in the last interval, are new, or of which something other than counters changed.
    pub fn changed_rows(&self) -> Vec<&TaskRow> {
        let mut slots: Vec<u32> = self.changes().map(|change| change.slot).collect();
        slots.extend(&self.touched);
        slots.sort_unstable();
        slots.dedup();
        slots.into_iter().filter_map(|slot| self.row_in(slot)).collect()
    }

    /// The tasks that were in the store before the last round, and left it.
    pub fn gone(&self) -> impl Iterator<Item = TaskKey> {
        self.gone.iter().map(|gone| gone.row.key)
    }

    /// Returns the changes of living tasks in the last interval.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        (0..self.changes.len()).filter(|index| self.is_current(*index)).map(|index| &self.changes[index])
    }

    /// Returns true if a change is that of the task in its slot: the slot may have been emptied since.
    pub(super) fn is_current(&self, change: usize) -> bool {
        let slot = &self.slots[self.changes[change].slot];
        slot.is_used && slot.changed_in == self.round && slot.change as usize == change
    }

    /// The number of slots, the free ones included.
    pub(crate) fn places(&self) -> u32 {
        self.slots.places()
    }

    /// The bytes that are reserved for rows and changes.
    pub fn reserved_bytes(&self) -> usize {
        self.slots.reserved_bytes()
            + self.changes.capacity() * size_of::<Change>()
            + self.by_pid.capacity() * size_of::<(u32, u32)>()
    }

    /// The tasks that ended in the last interval.
    pub fn ended(&self) -> impl ExactSizeIterator<Item = &EndedTask> {
        self.ended.iter()
    }

    /// By process, CPU time in the interval of threads that no exit record reports.
    pub fn ended_threads(&self) -> &HashMap<u32, Nanos> {
        &self.ended_threads
    }
}
