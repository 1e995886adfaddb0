//! Deltas of each task in the last interval: the only subtraction of task counters.
//!
//! A wait is charged when it ends: a task that has waited for a CPU during the last second shows it in the next interval. Values that
//! cannot be true are dropped after the subtraction, since a total that cannot be true may have a difference that can.

use super::{Change, EndedTask, Origin, SLACK, TaskStore};
use crate::rate::{Width, counter_delta};
use crate::task::Cause;
use crate::task::bounds;
use crate::task::exit_record::{ExitRecord, recorded_cpu_ns};
use crate::task::figure::{ABSENT, Figure, FigureSet, Figures};
use crate::task::{TaskRow, TaskSum};
use crate::unit::Nanos;

/// Waits are charged when they end, so that a charge may be longer than the interval. The kernel reports longer waits than this as
/// hung tasks.
const MAX_WAIT: Nanos = Nanos(120_000_000_000);

impl TaskStore {
    /// Ends a round. `exits` are the exit records since the last round; those that stay in it belong to the next round.
    pub fn finish(&mut self, exits: &mut Vec<ExitRecord>) {
        self.impossible_values = 0;
        self.take_exits(exits);
        self.find_replaced();
        self.find_origins_of_ended();
        self.find_cgroups_of_ended();
        for index in 0..self.changes.len() {
            if !self.is_current(index) {
                continue;
            }
            let change = &self.changes[index];
            let row = &self.slots[change.slot].row;
            let mut delta = self.subtract(change.origin, &change.before.figures, &row.figures, false);
            let wall = Nanos(self.wall_ns(row));
            let dropped = self.drop_impossible(&mut delta, wall, change.origin, &change.before);
            let change = &mut self.changes[index];
            (change.delta, change.wall, change.impossible_values) = (delta, wall, dropped);
            self.impossible_values += u64::from(dropped);
        }
        for index in 0..self.ended.len() {
            let EndedTask { record, origin, before, wall_ns, .. } = &self.ended[index];
            let mut delta = self.subtract(*origin, &before.figures, &record.row.figures, true);
            let dropped = self.drop_impossible(&mut delta, Nanos(*wall_ns), *origin, before);
            // An exit record is made before the last of its CPU time is charged to the precise counter; the ticks contain more of it.
            delta.set(Figure::ON_CPU, recorded_cpu_ns(|figure| delta.get(figure)));
            let one = &mut self.ended[index];
            (one.delta, one.impossible_values) = (delta, dropped);
            self.impossible_values += u64::from(dropped);
        }
        self.find_ended_threads();
    }

    /// Returns the activity of a living task in the last interval, with the time that it existed in it; `None` if its past is not
    /// known, or there is no interval. Figures that are not counters have their newest value.
    pub fn sum_of(&self, pid: u32, is_counted: bool) -> Option<(Nanos, TaskSum)> {
        self.interval?;
        let slot = &self.slots[self.slot_of(pid)?];
        let change = (slot.changed_in == self.round).then(|| &self.changes[slot.change as usize]);
        let (mut figures, wall) = match change {
            Some(Change { origin: Origin::Unknown, .. }) => return None,
            Some(change) => (change.delta, change.wall),
            None => {
                let mut figures = Figures::NONE;
                let counters = FigureSet::COUNTERS.difference(slot.row.figures.absent());
                counters.for_each(|figure| figures.set(figure, Some(0)));
                (figures, Nanos(self.wall_ns(&slot.row)))
            }
        };
        FigureSet::OF_PROCESS.for_each(|figure| figures.set(figure, slot.row.figures.get(figure)));
        let mut sum = TaskSum::of_thread(&figures, wall, is_counted);
        sum.impossible_values = change.map_or(0, |change| change.impossible_values);
        Some((wall, sum))
    }

    /// The part of the interval in which a living task existed, in nanoseconds.
    pub(super) fn wall_ns(&self, row: &TaskRow) -> u64 {
        let elapsed = self.interval.map_or(Nanos(0), |interval| interval.elapsed());
        self.clock.boottime.saturating_sub(row.key.start).0.min(elapsed.0)
    }

    /// The deltas of counters, and maxima that are new. Other figures are left absent: their newest value counts.
    fn subtract(&self, origin: Origin, before: &Figures, now: &Figures, has_ended: bool) -> Figures {
        let mut delta = Figures::NONE;
        if self.interval.is_none() || origin == Origin::Unknown {
            return delta;
        }
        let from = |figure| if origin == Origin::Start { 0 } else { before.raw(figure) };
        FigureSet::COUNTERS.for_each(|figure| {
            let value = match (from(figure), now.raw(figure)) {
                (ABSENT, _) | (_, ABSENT) => ABSENT,
                // An exit record is made before the task is done: the row of a zombie contains more, and was counted.
                (from, now) if has_ended && now < from => 0,
                (from, now) => counter_delta(from, now, Width::Bits64).unwrap_or(ABSENT),
            };
            delta.set_raw(figure, value);
        });
        FigureSet::MAXIMA.for_each(|figure| {
            let (from, now) = (from(figure), now.raw(figure));
            let is_new = from != ABSENT && now != ABSENT && now > from;
            delta.set_raw(figure, if is_new { now } else { ABSENT });
        });
        delta
    }

    /// Drops impossible delays of an interval and shortens overlapping ones. Returns how many were dropped.
    fn drop_impossible(&self, delta: &mut Figures, wall: Nanos, origin: Origin, before: &TaskRow) -> u32 {
        bounds::drop_impossible(delta, wall, SLACK, |cause, is_single_and_longer| match origin {
            Origin::Row => self.earlier_wait(before, cause, is_single_and_longer),
            Origin::Start | Origin::Unknown => Nanos(0),
        })
    }

    /// How long a task may have waited when the interval started. Only a task that was found waiting can have. taskstats does not
    /// contain the state: a charge that is longer than the interval is then believed if it is of a single wait, and not longer than
    /// the time for which the task had not been charged.
    fn earlier_wait(&self, before: &TaskRow, cause: Cause, is_single_and_longer: bool) -> Nanos {
        let was_waiting = match (before.state, cause) {
            (Some(state), Cause::RunQueue) => state == b'R',
            (Some(state), _) => state == b'D',
            (None, _) => is_single_and_longer,
        };
        if !was_waiting {
            return Nanos(0);
        }
        let total = |figure| before.figures.get(figure).map(Nanos).unwrap_or_default();
        let accounted = total(Figure::ON_CPU)
            + total(Figure::delay(Cause::RunQueue))
            + total(Figure::delay(Cause::BlockIo)).min(MAX_WAIT);
        let age = self.clock_before.boottime.saturating_sub(before.key.start);
        age.saturating_sub(accounted).min(MAX_WAIT)
    }
}
