//! The cgroups of ended tasks: exit records do not contain them.

use std::collections::HashMap;

use super::{Origin, TaskStore};

/// Ancestors that are looked up, one after the other.
const MAX_ANCESTORS: usize = 64;

impl TaskStore {
    /// Assigns each ended task the cgroup in which it was last seen, otherwise that of its process or of its nearest known ancestor:
    /// a child starts in the cgroup of its parent. A move between fork and exit is not seen.
    pub(super) fn find_cgroups_of_ended(&mut self) {
        if self.ended.is_empty() {
            return;
        }
        let ended: HashMap<u32, usize> =
            self.ended.iter().enumerate().map(|(index, one)| (one.record.row.key.pid, index)).collect();
        let gone: HashMap<u32, Option<u64>> =
            self.gone.iter().map(|gone| (gone.row.key.pid, gone.row.cgroup)).collect();
        for index in 0..self.ended.len() {
            let one = &self.ended[index];
            let row = &one.record.row;
            let own = if one.origin == Origin::Row { one.before.cgroup } else { None };
            let tgid = row.process();
            let mut next = Some(tgid).filter(|tgid| *tgid != row.key.pid).or(row.ppid);
            let mut cgroup = own.or(row.cgroup);
            for _ in 0..MAX_ANCESTORS {
                let (None, Some(pid)) = (cgroup, next) else { break };
                let record = ended.get(&pid).map(|index| &self.ended[*index].record.row);
                cgroup = self
                    .row(pid)
                    .and_then(|row| row.cgroup)
                    .or_else(|| gone.get(&pid).copied().flatten())
                    .or_else(|| record.and_then(|row| row.cgroup));
                next = record.and_then(|row| row.ppid).filter(|parent| *parent != pid);
            }
            self.ended[index].record.row.cgroup = cgroup;
        }
    }
}
