//! The tasks of a round, for all selections.

use facts::task::TaskRow;
use facts::task::figure::Figures;
use facts::task::store::TaskStore;

/// The tasks of a round, copied once for all selections: to look up names of cgroups the replay must not be borrowed.
#[derive(Default)]
pub(super) struct RoundRows {
    /// All tasks, in the first round and after a gap.
    pub(super) all: Vec<TaskRow>,
    pub(super) changed: Vec<TaskRow>,
    /// Exited tasks with their increases in the round.
    pub(super) ended: Vec<(TaskRow, Figures)>,
    pub(super) gone: Vec<u32>,
    pub(super) rounds: usize,
    pub(super) has_interval: bool,
}

impl RoundRows {
    pub(super) fn take(&mut self, store: &TaskStore, has_counters: bool, has_gauges: bool) {
        self.rounds += 1;
        self.has_interval = store.interval().is_some();
        for rows in [&mut self.all, &mut self.changed] {
            rows.clear();
        }
        self.ended.clear();
        self.gone.clear();
        if self.rounds == 1 || has_gauges && !self.has_interval {
            self.all.extend(store.rows());
        }
        if self.rounds > 1 {
            self.changed.extend(store.changed_rows());
        }
        if self.rounds > 1 && has_counters {
            self.ended.extend(store.ended().map(|ended| (*ended.row(), ended.delta)));
        }
        if has_gauges {
            self.gone.extend(store.gone().map(|key| key.pid));
        }
    }
}
