//! The cgroups of tasks that ended: no record names them.

use std::collections::HashMap;

use super::{Origin, TaskChanges, place_in};
use crate::task::table::TaskTable;

/// Parents that are asked one after the other.
const MOST_ANCESTORS: usize = 64;

impl TaskChanges {
    /// Gives each that ended the cgroup that it was last seen in, or else that of its process or of the nearest ancestor that is
    /// known: a child begins in its parent's. A move between the fork and the end is not seen.
    pub(super) fn find_cgroups_of_ended(&mut self, before: &TaskTable, now: &TaskTable) {
        if self.ended.is_empty() {
            return;
        }
        // The last that had an id; a parent may have ended, too.
        let ended: HashMap<u32, usize> =
            self.ended.iter().enumerate().map(|(index, ended)| (ended.row.key.pid, index)).collect();
        for index in 0..self.ended.len() {
            let row = &self.ended[index].row;
            let own = match self.origins[self.living + index] {
                Origin::Row(place) => before.cgroup(place as usize),
                Origin::Birth | Origin::Unknown => None,
            };
            let tgid = row.tgid.unwrap_or(row.key.pid);
            let mut next = Some(tgid).filter(|tgid| *tgid != row.key.pid).or(row.ppid);
            let mut cgroup = own.or(row.cgroup);
            for _ in 0..MOST_ANCESTORS {
                let (None, Some(pid)) = (cgroup, next) else { break };
                let living = place_in(&self.living_by_pid, pid);
                let older = place_in(&self.by_pid, pid);
                cgroup = living
                    .and_then(|place| now.cgroup(place))
                    .or(older.and_then(|place| before.cgroup(place)));
                let of_record = ended.get(&pid).map(|index| &self.ended[*index].row);
                cgroup = cgroup.or(of_record.and_then(|row| row.cgroup));
                next = of_record.and_then(|row| row.ppid).filter(|parent| *parent != pid);
            }
            self.ended[index].row.cgroup = cgroup;
        }
    }
}
