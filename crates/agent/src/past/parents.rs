//! Who started the processes that ended.

use std::collections::HashMap;

use facts::task::comm::Comm;
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;

use crate::task_sums::MinuteGroups;

/// How many processes ended, by their parents.
#[derive(Debug, Default)]
pub(super) struct Parents {
    children: HashMap<u32, u64>,
    names: HashMap<u32, Comm>,
}

/// The process that started most of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParentOfMost {
    pub(crate) comm: String,
    pub(crate) pid: u32,
    /// Which part of them it started.
    pub(crate) ratio: f64,
}

impl Parents {
    /// Adds the processes that ended in a round, as far as they may be seen.
    pub(super) fn add(&mut self, store: &TaskStore, scope: Scope) {
        for ended in store.ended() {
            let row = ended.row();
            let is_process = row.tgid == Some(row.key.pid);
            let Some(parent) = row.ppid.filter(|_| is_process && scope.contains(row)) else { continue };
            *self.children.entry(parent).or_default() += 1;
            if let Some(row) = store.row(parent).filter(|row| scope.contains(row)) {
                self.names.insert(parent, row.comm);
            }
        }
    }

    /// Adds those of a minute. They are all users'.
    pub(super) fn add_sums(&mut self, minute: &MinuteGroups) {
        for parent in &minute.parents {
            *self.children.entry(parent.process).or_default() += parent.ended;
            if let Some(comm) = parent.comm {
                self.names.insert(parent.process, comm);
            }
        }
    }

    /// Returns the parent of most, if its name is known.
    pub(super) fn of_most(self) -> Option<ParentOfMost> {
        let all: u64 = self.children.values().sum();
        let named =
            self.children.into_iter().filter_map(|(pid, count)| Some((count, pid, self.names.get(&pid)?)));
        let (count, pid, comm) = named.max_by_key(|(count, pid, _)| (*count, *pid))?;
        Some(ParentOfMost { comm: comm.to_lossy(), pid, ratio: count as f64 / all as f64 })
    }
}
