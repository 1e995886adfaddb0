//! Where the time of tasks went over the last minutes: kept for those that did anything, within bounds.

use std::collections::HashMap;
use std::collections::VecDeque;

use facts::task::groups::GroupRow;
use facts::task::{Cause, TaskKey};
use facts::unit::Nanos;

use crate::session::Session;

/// Readings kept of a task.
pub(super) const LENGTH: usize = 300;
/// Tasks kept: with a reading of 4 bytes this is 1.2 MB at most.
const TASKS: usize = 1000;
/// The least share of a thread's time that is a reason to keep a task.
const WORTH_KEEPING: f32 = 0.002;

/// Shares of one reading: on CPU, run queue, block I/O and the overlapping causes together, in 255ths of the time that the
/// row's threads had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shares(pub(super) [u8; 4]);

/// All histories.
#[derive(Default)]
pub(super) struct Histories {
    by_task: HashMap<TaskKey, History>,
    round: u64,
}

struct History {
    shares: VecDeque<Shares>,
    /// The last in which it did anything.
    last_round: u64,
}

impl Histories {
    /// Adds the newest reading of each.
    pub(super) fn record(&mut self, session: &Session) {
        self.round += 1;
        for row in session.tasks.groups.active_rows().map(|id| session.tasks.row(id)) {
            // A sum has no history.
            if row.is_ended || row.is_several() {
                continue;
            }
            let (parts, key) = (shares(&row), row.key());
            if parts.iter().any(|share| *share > WORTH_KEEPING) || self.by_task.contains_key(&key) {
                self.push(key, parts);
            }
        }
        self.rest();
        if self.by_task.len() > TASKS {
            self.drop_idlest();
        }
    }

    /// Adds an empty reading to the history of each idle task. Forgets tasks that were idle for as long as readings are kept.
    fn rest(&mut self) {
        let round = self.round;
        for history in self.by_task.values_mut().filter(|history| history.last_round != round) {
            if history.shares.len() == LENGTH {
                history.shares.pop_front();
            }
            history.shares.push_back(Shares::default());
        }
        self.by_task.retain(|_, history| round - history.last_round < LENGTH as u64);
    }

    fn push(&mut self, key: TaskKey, parts: [f32; 4]) {
        let shares = Shares(parts.map(|share| (share.clamp(0.0, 1.0) * 255.0).ceil() as u8));
        let history =
            self.by_task.entry(key).or_insert_with(|| History { shares: VecDeque::new(), last_round: 0 });
        if history.shares.len() == LENGTH {
            history.shares.pop_front();
        }
        history.shares.push_back(shares);
        history.last_round = self.round;
    }

    /// Forgets the tasks that did least.
    fn drop_idlest(&mut self) {
        let sum = |history: &History| -> u64 {
            history.shares.iter().flat_map(|shares| shares.0).map(u64::from).sum()
        };
        let mut sums: Vec<u64> = self.by_task.values().map(sum).collect();
        sums.sort_unstable_by(|a, b| b.cmp(a));
        let least = sums[TASKS / 2];
        self.by_task.retain(|_, history| sum(history) > least);
    }

    /// A task's readings, the oldest first; `None` if it did nothing.
    pub(super) fn of(&self, key: TaskKey) -> Option<&VecDeque<Shares>> {
        self.by_task.get(&key).map(|history| &history.shares)
    }
}

fn shares(row: &GroupRow<'_>) -> [f32; 4] {
    let whole = row.sum.thread_time.0.max(1) as f32;
    let of = |time: Option<Nanos>| time.map_or(0.0, |time| time.0 as f32 / whole);
    let delay = |cause| row.sum.delay(cause).total();
    let overlapping: Nanos = row.sum.overlapping_delays().into_iter().map(|(_, total)| total).sum();
    [of(row.sum.on_cpu()), of(delay(Cause::RunQueue)), of(delay(Cause::BlockIo)), of(Some(overlapping))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(pid: u32) -> TaskKey {
        TaskKey { pid, start: Nanos(1) }
    }

    #[test]
    fn a_history_is_bounded_and_the_busy_stay() {
        let mut histories = Histories::default();
        for _ in 0..LENGTH + 5 {
            histories.push(key(1), [0.5, 0.0, 0.0, 0.0]);
        }
        assert_eq!(histories.of(key(1)).map(VecDeque::len), Some(LENGTH));
        for pid in 2..2000 {
            histories.push(key(pid), [0.001, 0.0, 0.0, 0.0]);
        }
        histories.drop_idlest();
        assert!(histories.by_task.len() <= TASKS && histories.of(key(1)).is_some());
    }
}
