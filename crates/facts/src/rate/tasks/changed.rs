//! Every task with what it did: a table, and the changes that led to it.

use super::ended::recorded_cpu_ns;
use super::{Ended, IDLE, TaskChanges};
use crate::rate::Interval;
use crate::task::figure::{ABSENT, Figure};
use crate::task::table::{Comm, TaskTable};
use crate::task::{Accounting, Cause, TaskKey};

/// Who each task is, what it has now, and how far its counters went. Living ones first, in the order of the table, and behind
/// them those that ended.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'a> {
    changes: &'a TaskChanges,
    now: &'a TaskTable,
}

impl<'a> Changed<'a> {
    pub(super) fn new(changes: &'a TaskChanges, now: &'a TaskTable) -> Self {
        Self { changes, now }
    }

    /// The living and the ended.
    pub fn len(&self) -> usize {
        self.now.len() + self.changes.ended.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time between; none for a first table or across a suspend.
    pub fn interval(&self) -> Option<Interval> {
        self.changes.interval
    }

    /// Who ended, behind the living.
    pub fn is_ended(&self, index: usize) -> bool {
        index >= self.now.len()
    }

    /// Whether it did anything.
    pub fn is_active(&self, index: usize) -> bool {
        self.changes.places[index] != IDLE
    }

    /// How much of the interval it lived, in nanoseconds.
    pub fn wall_ns(&self, index: usize) -> u64 {
        self.changes.wall_ns[index]
    }

    /// Which.
    pub fn key(&self, index: usize) -> TaskKey {
        self.ended(index).map_or_else(|| self.now.key(index), |ended| ended.row.key)
    }

    /// The thread's id.
    pub fn pid(&self, index: usize) -> u32 {
        self.ended(index).map_or_else(|| self.now.pid(index), |ended| ended.row.key.pid)
    }

    /// Its process; its own id where the source does not say.
    pub fn tgid(&self, index: usize) -> u32 {
        let of_row = |ended: &Ended| ended.row.tgid.unwrap_or(ended.row.key.pid);
        self.ended(index).map_or_else(|| self.now.tgid(index), of_row)
    }

    /// The parent process.
    pub fn ppid(&self, index: usize) -> Option<u32> {
        self.ended(index).map_or_else(|| self.now.ppid(index), |ended| ended.row.ppid)
    }

    /// The user.
    pub fn uid(&self, index: usize) -> Option<u32> {
        self.ended(index).map_or_else(|| self.now.uid(index), |ended| ended.row.uid)
    }

    /// The name.
    pub fn comm(&self, index: usize) -> Comm {
        self.ended(index).map_or_else(|| self.now.comm(index), |ended| ended.row.comm)
    }

    /// The state's letter.
    pub fn state(&self, index: usize) -> Option<u8> {
        self.ended(index).map_or_else(|| self.now.state(index), |ended| ended.row.state)
    }

    /// -20 to 19.
    pub fn nice(&self, index: usize) -> i8 {
        self.ended(index).map_or_else(|| self.now.nice(index), |ended| ended.row.nice)
    }

    /// The cgroup's id.
    pub fn cgroup(&self, index: usize) -> Option<u64> {
        self.ended(index).map_or_else(|| self.now.cgroup(index), |ended| ended.row.cgroup)
    }

    /// Whether delays other than the run queue's are counted.
    pub fn accounting(&self, index: usize) -> Accounting {
        self.ended(index).map_or_else(|| self.now.accounting(index), |ended| ended.row.accounting)
    }

    /// How far a counter went, a longest wait that is new, or what it has now of what comes and goes.
    pub fn get(&self, index: usize, figure: Figure) -> Option<u64> {
        Some(self.raw(index, figure)).filter(|value| *value != ABSENT)
    }

    /// Time on a CPU in the interval that no record tells; zero of who lives.
    pub fn most_unrecorded_ns(&self, index: usize) -> u64 {
        let Some(ended) = self.ended(index) else { return 0 };
        let parts = [
            self.cpu_ns(index),
            self.get(index, Figure::delay(Cause::RunQueue)),
            self.get(index, Figure::delay(Cause::BlockIo)),
        ];
        // Of its own time alone: what another task of the same row slept it was not running in.
        let left = self.wall_ns(index).saturating_sub(parts.into_iter().flatten().sum());
        ended.most_unrecorded().0.min(left)
    }

    /// Nanoseconds that threads of a process were on a CPU of which no record tells, where only /proc is read.
    pub fn ended_threads_ns(&self, tgid: u32) -> u64 {
        self.changes.ended_threads.get(&tgid).map_or(0, |nanos| nanos.0)
    }

    /// Nanoseconds on a CPU. A record is made before the last of it is charged to the precise figure: of who ended the ticks know
    /// better, where they are told.
    pub fn cpu_ns(&self, index: usize) -> Option<u64> {
        match self.is_ended(index) {
            true => recorded_cpu_ns(|figure| self.get(index, figure)),
            false => self.get(index, Figure::ON_CPU),
        }
    }

    /// A figure, [`ABSENT`] where it is not known.
    fn raw(&self, index: usize, figure: Figure) -> u64 {
        let of_now = || match self.ended(index) {
            Some(ended) => ended.row.figures.raw(figure),
            None => self.now.column(figure)[index],
        };
        if !figure.is_counter() && !figure.is_maximum() {
            return of_now();
        }
        match self.changes.places[index] {
            // It did nothing, as far as anybody can say: across a suspend nobody can.
            IDLE if figure.is_maximum() || self.changes.interval.is_none() => ABSENT,
            IDLE if of_now() == ABSENT => ABSENT,
            IDLE => 0,
            place => self.changes.figures[figure.index()][place as usize],
        }
    }

    fn ended(&self, index: usize) -> Option<&'a Ended> {
        self.changes.ended.get(index.checked_sub(self.now.len())?)
    }
}
