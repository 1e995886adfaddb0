//! The tasks of a cgroup of version 1: its files name them, while tasks, and exit records above all, do not name it.

use std::collections::HashSet;

use facts::task::TaskRow;
use facts::task::store::{EndedTask, TaskStore};
use probe::cgroup_tasks::Cgroup;

/// The members of a cgroup, round by round.
#[derive(Debug)]
pub struct CgroupMembers {
    cgroup: Cgroup,
    /// The round of the store when it was looked at last.
    round: Option<u32>,
    living: HashSet<u32>,
    /// Tasks that lived in the round before.
    before: HashSet<u32>,
    ended: HashSet<u32>,
}

impl CgroupMembers {
    /// Creates the members of this cgroup and those below it; `None` if its hierarchy is of version 2, whose cgroups tasks name.
    pub fn of_version_1(cgroup: Cgroup) -> Option<Self> {
        let (living, before, ended) = (HashSet::new(), HashSet::new(), HashSet::new());
        (cgroup.version == 1).then_some(Self { cgroup, round: None, living, before, ended })
    }

    /// Looks who is in it in this round of the store. What has ended was in it if it was there before, or if its process or parent is
    /// or was: a child starts in the cgroup of its parent.
    pub fn update(&mut self, store: &TaskStore) {
        if self.round.replace(store.round()) != Some(store.round()) {
            std::mem::swap(&mut self.before, &mut self.living);
        }
        let mut tids = Vec::new();
        // A cgroup that is gone has no tasks.
        let _ = self.cgroup.tasks(&mut tids);
        self.living = tids.into_iter().collect();
        self.ended.clear();
        let mut others: Vec<&TaskRow> = store.ended().map(EndedTask::row).collect();
        loop {
            let known = others.len();
            others.retain(|row| {
                let relatives = [Some(row.key.pid), Some(row.process()), row.ppid];
                let is_in = relatives.into_iter().flatten().any(|pid| self.is_known(pid));
                if is_in {
                    self.ended.insert(row.key.pid);
                }
                !is_in
            });
            // Children of children, until no more are found.
            if others.len() == known {
                return;
            }
        }
    }

    fn is_known(&self, pid: u32) -> bool {
        [&self.living, &self.before, &self.ended].iter().any(|pids| pids.contains(&pid))
    }

    /// Returns true if a task of the last round is in it.
    pub fn contains(&self, row: &TaskRow) -> bool {
        self.living.contains(&row.key.pid) || self.ended.contains(&row.key.pid)
    }
}
