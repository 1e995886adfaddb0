//! Tasks that were in one uninterruptible sleep for long. The kernel charges a wait when it ends, so that no counter shows it before.

use facts::task::figure::Figure;
use facts::task::rounds::Scope;
use facts::task::wait::Wait;
use facts::task::{TaskKey, TaskRow};
use foldhash::HashMap;

use super::round::Round;

/// The most that are kept.
const MOST: usize = 1_000;

/// A task in one uninterruptible sleep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckTask {
    /// The name of the task.
    pub comm: String,
    pub tid: u32,
    /// What it waits for; `None` if that was not recorded.
    pub wait: Option<Wait>,
    /// When it was first and last seen so, in milliseconds since 1970.
    pub from_ms: i64,
    pub until_ms: i64,
}

/// Follows tasks from round to round.
#[derive(Debug, Default)]
pub(super) struct Stuck {
    /// The tasks that sleep so, by number.
    sleeping: HashMap<u32, Sleeping>,
    /// The tasks that slept so, and went on.
    ended: Vec<StuckTask>,
    /// The last round.
    last_ms: i64,
    /// Rounds before the next one were not read.
    has_gap: bool,
}

#[derive(Debug)]
struct Sleeping {
    key: TaskKey,
    /// How often it had gone to sleep.
    switches: Option<u64>,
    task: StuckTask,
}

impl Stuck {
    /// Rounds follow that are not read.
    pub(super) fn skip(&mut self) {
        self.has_gap = true;
    }

    /// Adds a round.
    pub(super) fn add(&mut self, at_ms: i64, round: &Round<'_>, scope: Scope) {
        self.last_ms = at_ms;
        if std::mem::take(&mut self.has_gap) || round.is_apart() {
            // A task may have gone on in between: only a row that shows the same sleep proves that it has not.
            self.sleeping
                .retain(|tid, sleeping| round.store.row(*tid).is_some_and(|row| sleeping.is_of(row)));
            round.store.rows().for_each(|row| self.see(at_ms, row, round, scope));
            return;
        }
        for key in round.store.gone() {
            self.end(key.pid, at_ms);
        }
        round.changed.iter().for_each(|row| self.see(at_ms, row, round, scope));
    }

    fn see(&mut self, at_ms: i64, row: &TaskRow, round: &Round<'_>, scope: Scope) {
        let tid = row.key.pid;
        if self.sleeping.get(&tid).is_some_and(|sleeping| sleeping.is_of(row)) {
            return;
        }
        self.end(tid, at_ms);
        // Some threads of the kernel always sleep so.
        let is_asleep = row.state == Some(b'D') && !round.store.is_of_kernel(row);
        if is_asleep && scope.contains(row) && self.sleeping.len() < MOST {
            let (comm, wait) = (row.comm.to_lossy(), row.wait);
            let task = StuckTask { comm, tid, wait, from_ms: at_ms, until_ms: at_ms };
            self.sleeping.insert(tid, Sleeping { key: row.key, switches: switches(row), task });
        }
    }

    /// Ends the sleep of a task.
    fn end(&mut self, tid: u32, at_ms: i64) {
        if let Some(Sleeping { task, .. }) = self.sleeping.remove(&tid)
            && self.ended.len() < MOST
        {
            self.ended.push(StuckTask { until_ms: at_ms, ..task });
        }
    }

    /// Returns those that slept for at least so many milliseconds, the longest first.
    pub(super) fn for_at_least(&self, least_ms: i64) -> Vec<StuckTask> {
        let asleep = self.sleeping.values().map(|sleeping| sleeping.task.clone());
        let asleep = asleep.map(|task| StuckTask { until_ms: self.last_ms, ..task });
        let mut found: Vec<StuckTask> = self.ended.iter().cloned().chain(asleep).collect();
        found.retain(|task| task.length_ms() >= least_ms);
        found.sort_by_key(|task| (-task.length_ms(), task.tid));
        found
    }
}

impl StuckTask {
    /// For how long, in milliseconds.
    pub fn length_ms(&self) -> i64 {
        self.until_ms - self.from_ms
    }
}

impl Sleeping {
    /// Returns whether a row shows the same sleep.
    fn is_of(&self, row: &TaskRow) -> bool {
        row.state == Some(b'D') && row.key.is_same(&self.key) && switches(row) == self.switches
    }
}

fn switches(row: &TaskRow) -> Option<u64> {
    row.figures.get(Figure::VOLUNTARY_SWITCHES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::sample::Clock;
    use facts::task::store::TaskStore;
    use facts::unit::Nanos;

    #[test]
    fn a_sleep_ends_when_the_task_goes_on() {
        let (mut store, mut stuck) = (TaskStore::default(), Stuck::default());
        let mut slept_ms = |second: u64, state: u8, switches: u64| {
            let at = Nanos(second * Nanos::SECOND.0);
            store.begin(Clock { monotonic: at, boottime: at, realtime: at });
            let mut row = TaskRow { state: Some(state), ppid: Some(1), ..TaskRow::default() };
            row.key.pid = 7;
            row.figures.set(Figure::ON_CPU, Some(switches));
            row.figures.set(Figure::VOLUNTARY_SWITCHES, Some(switches));
            store.put(&row);
            store.remove_stale();
            store.finish(&mut Vec::new());
            stuck.add(second as i64 * 1000, &Round::new(&store, second == 1), Scope::All);
            stuck.for_at_least(1).iter().map(StuckTask::length_ms).collect::<Vec<_>>()
        };
        assert!(slept_ms(1, b'S', 5).is_empty());
        assert!(slept_ms(2, b'D', 6).is_empty());
        assert_eq!(slept_ms(4, b'D', 6), [2000]);
        // It went on and sleeps so again.
        assert_eq!(slept_ms(5, b'D', 7), [3000]);
        assert_eq!(slept_ms(6, b'D', 7), [3000, 1000]);
        assert_eq!(slept_ms(8, b'S', 8), [3000, 3000]);
    }
}
