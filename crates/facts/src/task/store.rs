//! All tasks of a machine, and what each of them did in the last interval.
//!
//! Tasks are kept in slots, one row each. A reader starts a round, puts the rows that it has read, and finishes the round. The cost
//! of a round is proportional to the rows that are put: a task that did not run since the last round need not be put again, and
//! neither its row nor anything about it is touched.

mod access;
mod cgroups;
mod delta;
mod ended_threads;
mod matching;
mod total;

use foldhash::HashMap;

use super::exit_record::{ExitRecord, SLACK};
use super::figure::{Figure, Figures};
use super::row::TaskRow;
use super::slots::Slots;
use super::{Cause, TaskKey};
use crate::rate::Interval;
use crate::sample::Clock;
use crate::unit::Nanos;

pub use access::Activity;
pub use ended_threads::ended_threads_cpu;

/// The figures that tell whether a task did anything: the kernel changes the other counters only while a task runs.
const ACTIVITY: [Figure; 4] = [
    Figure::ON_CPU,
    Figure::delay(Cause::RunQueue),
    Figure::delay(Cause::BlockIo),
    Figure::count(Cause::BlockIo),
];

/// All tasks, with the deltas of the last interval.
#[derive(Clone, Debug, Default)]
pub struct TaskStore {
    slots: Slots<Slot>,
    by_pid: HashMap<u32, u32>,
    /// The number of tasks by the letter of their state.
    by_state: HashMap<u8, u32>,
    /// The sum of the fingerprints of all tasks, and of those that were put in this round.
    fingerprints: u64,
    put_fingerprints: u64,
    put_count: usize,
    round: u32,
    /// Rounds, and the times that a round was started over: what `put_in` is compared with.
    pass: u32,
    clock: Clock,
    clock_before: Clock,
    /// The first round has an interval: since boot.
    is_since_boot: bool,
    interval: Option<Interval>,
    /// Tasks that did something in the last interval or are new.
    changes: Vec<Change>,
    /// Rows that left the store in this round.
    gone: Vec<Gone>,
    ended: Vec<EndedTask>,
    /// Slots that were filled or emptied in this round, or of which something other than counters changed.
    touched: Vec<u32>,
    /// CPU time of all tasks that ended since the reader was opened; `None` if the reader does not count it.
    pub ended_on_cpu: Option<Nanos>,
    /// CPU time by process, ended threads included. Empty if exits are reported one by one.
    pub process_cpu: HashMap<u32, Nanos>,
    process_cpu_before: HashMap<u32, Nanos>,
    /// CPU time by process of threads that started and ended within the interval and of which there is no record.
    ended_threads: HashMap<u32, Nanos>,
    /// Values that were dropped in the last interval because they cannot be true.
    pub impossible_values: u64,
}

#[derive(Clone, Debug)]
struct Slot {
    row: TaskRow,
    is_used: bool,
    /// The pass in which it was put last, and the round in which anything was found out about it.
    put_in: u32,
    seen_in: u32,
    /// Its index in `changes`, valid in the round `changed_in`.
    change: u32,
    changed_in: u32,
}

/// The activity of a living task in the last interval.
#[derive(Clone, Debug)]
pub struct Change {
    /// The slot of the task.
    pub(super) slot: u32,
    origin: Origin,
    /// The row of the round before, if the origin is [`Origin::Row`].
    before: TaskRow,
    /// Counters that grew and maxima that are new.
    pub(super) delta: Figures,
    /// How much of the interval it lived.
    pub(super) wall: Nanos,
    /// Values that were dropped because they cannot be true.
    pub(super) impossible_values: u32,
}

/// The value that a task's counters are subtracted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The row of the round before.
    Row,
    /// Zero: the task started within the interval.
    Start,
    /// Unknown: the task is older than the interval and was not in the round before.
    Unknown,
}

/// A row that left the store.
#[derive(Clone, Debug)]
struct Gone {
    row: TaskRow,
    /// An exit record or another task continues it.
    is_taken: bool,
}

/// A task that ended in the last interval.
#[derive(Clone, Debug)]
pub struct EndedTask {
    record: ExitRecord,
    origin: Origin,
    before: TaskRow,
    /// The activity in the interval.
    pub delta: Figures,
    /// How much of the interval it lived, in nanoseconds.
    pub wall_ns: u64,
    /// Values that were dropped because they cannot be true.
    pub(super) impossible_values: u32,
}

impl EndedTask {
    /// Its exit record.
    pub fn record(&self) -> &ExitRecord {
        &self.record
    }

    /// Its row, from its exit record.
    pub fn row(&self) -> &TaskRow {
        &self.record.row
    }

    /// Returns true if it lived in the round before.
    pub fn was_alive(&self) -> bool {
        self.origin == Origin::Row
    }

    /// CPU time in the interval in nanoseconds.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.delta.get(Figure::ON_CPU)
    }

    /// CPU time of its whole life in nanoseconds, as far as it was counted. In its last interval that is what its record has, in the kernel's ticks;
    /// before, what the precise counter had. A record is of the whole life, and its ticks may be far from the precise counter.
    pub(super) fn counted_cpu_ns(&self) -> Option<u64> {
        let before = match self.origin {
            Origin::Row => self.before.figures.get(Figure::ON_CPU)?,
            Origin::Start | Origin::Unknown => return self.record.cpu_ns(),
        };
        Some(before + self.cpu_ns().unwrap_or(0))
    }

    /// The upper bound of CPU time in the interval that its record does not contain.
    pub fn most_unrecorded_ns(&self) -> u64 {
        let parts = [
            self.cpu_ns(),
            self.delta.get(Figure::delay(Cause::RunQueue)),
            self.delta.get(Figure::delay(Cause::BlockIo)),
        ];
        // Of its own time alone: it was not running while another task of the same row slept.
        let left = self.wall_ns.saturating_sub(parts.into_iter().flatten().sum());
        self.record.most_unrecorded().0.min(left)
    }
}

/// Distinguishes a task from others: the store and a reader compare the sums of these to find out whether they agree on which tasks
/// exist. The BPF program computes the same.
pub fn fingerprint(key: TaskKey) -> u64 {
    (key.start.0 ^ u64::from(key.pid).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

impl TaskStore {
    /// A store whose first interval is the time since boot: that of a captured machine, which stands still.
    pub fn since_boot() -> Self {
        Self { is_since_boot: true, ..Self::default() }
    }

    /// Starts a round. The rows of the last round stay until they are put again or removed.
    pub fn begin(&mut self, clock: Clock) {
        self.round += 1;
        self.start_over();
        (self.clock_before, self.clock) = (self.clock, clock);
        self.changes.clear();
        self.gone.clear();
        self.ended.clear();
        self.touched.clear();
        std::mem::swap(&mut self.process_cpu, &mut self.process_cpu_before);
        self.process_cpu.clear();
        self.ended_on_cpu = None;
        let has_interval = self.round > 1 || self.is_since_boot;
        self.interval = has_interval.then(|| Interval::between(&self.clock_before, &self.clock)).flatten();
    }

    /// Lets the reader put every task once more: what it has put so far was not all.
    pub fn start_over(&mut self) {
        self.pass += 1;
        (self.put_count, self.put_fingerprints) = (0, 0);
    }

    /// Takes back the start of a round that could not be read, so that the next interval contains its time.
    pub fn abandon(&mut self) {
        self.clock = self.clock_before;
    }

    /// Puts the row of a task that was read.
    pub fn put(&mut self, row: &TaskRow) {
        self.put_row(row, false);
    }

    /// Puts a row with an exact start: it replaces a start that was rounded.
    pub fn put_exact(&mut self, row: &TaskRow) {
        self.put_row(row, true);
    }

    fn put_row(&mut self, row: &TaskRow, is_exact: bool) {
        match self.by_pid.get(&row.key.pid).copied() {
            Some(index) if is_same_start(self.slots[index].row.key.start, row.key.start) => {
                if is_exact {
                    self.correct_start(index, row.key);
                }
                self.update(index, row);
            }
            Some(index) => {
                self.empty(index);
                self.insert(row);
            }
            None => self.insert(row),
        }
    }

    fn correct_start(&mut self, index: u32, key: TaskKey) {
        let slot = &mut self.slots[index];
        if slot.row.key == key {
            return;
        }
        let change = fingerprint(key).wrapping_sub(fingerprint(slot.row.key));
        slot.row.key = key;
        self.fingerprints = self.fingerprints.wrapping_add(change);
        if slot.put_in == self.pass {
            self.put_fingerprints = self.put_fingerprints.wrapping_add(change);
        }
    }

    /// Removes a task that was not put in this round.
    pub fn remove(&mut self, pid: u32) {
        if let Some(index) = self.stale_slot(pid) {
            self.empty(index);
        }
    }

    /// Removes all tasks that were not put in this round: the reader has put every task that exists. Touches all slots.
    pub fn remove_stale(&mut self) {
        for index in 0..self.slots.places() {
            let slot = &self.slots[index];
            if slot.is_used && slot.put_in != self.pass {
                self.empty(index);
            }
        }
    }

    /// The number of tasks that were not put in this round and are not among `removed`, and the sum of their fingerprints. `removed`
    /// contains no id twice.
    pub fn stale<'a>(&self, removed: impl IntoIterator<Item = &'a u32>) -> (usize, u64) {
        let mut count = self.len() - self.put_count;
        let mut sum = self.fingerprints.wrapping_sub(self.put_fingerprints);
        for index in removed.into_iter().filter_map(|pid| self.stale_slot(*pid)) {
            count -= 1;
            sum = sum.wrapping_sub(fingerprint(self.slots[index].row.key));
        }
        (count, sum)
    }

    /// Adds what was found out about a living task after it was put. Its id, start and counters stay as they are.
    pub fn amend(&mut self, pid: u32, change: impl FnOnce(&mut TaskRow)) {
        let Some(index) = self.by_pid.get(&pid).copied() else { return };
        let slot = &mut self.slots[index];
        slot.seen_in = self.round;
        let row = &mut slot.row;
        let before = *row;
        change(row);
        row.key = before.key;
        let state = row.state;
        self.touched.push(index);
        self.count_state(before.state, state);
    }

    /// Records a change without activity: an exit record has the id of a task that did nothing.
    fn change_without_activity(&mut self, index: u32) {
        let slot = &mut self.slots[index];
        (slot.change, slot.changed_in) = (self.changes.len() as u32, self.round);
        let before = slot.row;
        self.push_change(index, Origin::Row, before);
    }

    fn insert(&mut self, row: &TaskRow) {
        let index = self.slots.insert(Slot {
            row: *row,
            is_used: true,
            put_in: self.pass,
            seen_in: self.round,
            change: self.changes.len() as u32,
            changed_in: self.round,
        });
        self.by_pid.insert(row.key.pid, index);
        let origin = if self.is_in_interval(row.key.start) { Origin::Start } else { Origin::Unknown };
        self.push_change(index, origin, TaskRow::default());
        self.touched.push(index);
        self.count_state(None, row.state);
        let fingerprint = fingerprint(row.key);
        self.fingerprints = self.fingerprints.wrapping_add(fingerprint);
        self.put_fingerprints = self.put_fingerprints.wrapping_add(fingerprint);
        self.put_count += 1;
    }

    fn update(&mut self, index: u32, row: &TaskRow) {
        let slot = &mut self.slots[index];
        let before = std::mem::replace(&mut slot.row, *row);
        // Two readings may place the start a little apart; the fingerprint must stay the same.
        slot.row.key.start = before.key.start;
        // Most sources do not report the cgroup; it was looked up.
        slot.row.cgroup = row.cgroup.or(before.cgroup);
        slot.seen_in = self.round;
        if slot.put_in != self.pass {
            slot.put_in = self.pass;
            self.put_fingerprints = self.put_fingerprints.wrapping_add(fingerprint(before.key));
            self.put_count += 1;
        }
        let is_altered = before.identity() != slot.row.identity();
        let is_active = ACTIVITY.iter().any(|figure| before.figures.raw(*figure) != row.figures.raw(*figure));
        if is_active && slot.changed_in != self.round {
            (slot.change, slot.changed_in) = (self.changes.len() as u32, self.round);
            self.push_change(index, Origin::Row, before);
        }
        if is_altered {
            self.touched.push(index);
            self.count_state(before.state, row.state);
        }
    }

    fn empty(&mut self, index: u32) {
        let slot = &mut self.slots[index];
        let row = slot.row;
        slot.is_used = false;
        let fingerprint = fingerprint(row.key);
        self.fingerprints = self.fingerprints.wrapping_sub(fingerprint);
        if slot.put_in == self.pass {
            self.put_fingerprints = self.put_fingerprints.wrapping_sub(fingerprint);
            self.put_count -= 1;
        }
        self.by_pid.remove(&row.key.pid);
        self.slots.release(index);
        self.gone.push(Gone { row, is_taken: false });
        self.touched.push(index);
        self.count_state(row.state, None);
    }

    fn push_change(&mut self, slot: u32, origin: Origin, before: TaskRow) {
        let (delta, wall) = (Figures::NONE, Nanos(0));
        self.changes.push(Change { slot, origin, before, delta, wall, impossible_values: 0 });
    }

    fn count_state(&mut self, before: Option<u8>, now: Option<u8>) {
        if before == now {
            return;
        }
        if let Some(count) = before.and_then(|state| self.by_state.get_mut(&state)) {
            *count -= 1;
        }
        if let Some(state) = now {
            *self.by_state.entry(state).or_default() += 1;
        }
    }

    /// The slot of a task that was not put in this round.
    fn stale_slot(&self, pid: u32) -> Option<u32> {
        self.by_pid.get(&pid).copied().filter(|index| self.slots[*index].put_in != self.pass)
    }

    /// Returns true if a task that started then started after the last round.
    fn is_in_interval(&self, start: Nanos) -> bool {
        self.interval.is_some() && start + SLACK >= self.clock_before.boottime
    }
}

/// Returns true if two readings of a start can be of one task: a tick apart, in which /proc counts it, and as much again.
pub fn is_same_start(first: Nanos, second: Nanos) -> bool {
    first.0.abs_diff(second.0) <= 20_000_000
}

#[cfg(test)]
mod tests;
