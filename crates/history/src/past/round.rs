//! A round of a replay.

use facts::task::TaskRow;
use facts::task::store::TaskStore;

/// The tasks of a round, for all selections.
pub(super) struct Round<'r> {
    pub(super) store: &'r TaskStore,
    /// Living tasks that changed; none in the first round.
    pub(super) changed: Vec<&'r TaskRow>,
    /// No round was read before it.
    pub(super) is_first: bool,
}

impl<'r> Round<'r> {
    pub(super) fn new(store: &'r TaskStore, is_first: bool) -> Self {
        let changed = if is_first { Vec::new() } else { store.changed_rows() };
        Self { store, changed, is_first }
    }

    /// Returns whether it continues no other one: all tasks are as they are in it.
    pub(super) fn is_apart(&self) -> bool {
        self.is_first || self.store.interval().is_none()
    }
}
