//! What only /proc says of a task and does not change: its command line and its cgroup. Read once a task, for what is on the
//! screen alone, and stored nowhere.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use facts::task::groups::GroupRow;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use probe::task_detail::TaskFiles;

use super::cgroup_ids::CgroupIds;

/// More than a screen has; beyond this the oldest are forgotten.
const KEPT: usize = 4096;
/// Tasks of one row that are asked for their cgroup.
const MOST_ASKED: usize = 4;

/// Command lines and cgroups that were read.
pub(crate) struct Commands {
    files: TaskFiles,
    lines: HashMap<TaskKey, Option<String>>,
    /// Only what was found: the next task may know what this one could not be asked.
    cgroups: HashMap<u64, String>,
    cgroups_by_task: HashMap<TaskKey, String>,
    /// Of those that the kernel's way of telling tasks has no ids for.
    cgroup_ids: CgroupIds,
}

impl Commands {
    pub(crate) fn new(files: TaskFiles) -> Self {
        let (lines, cgroups, cgroups_by_task) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { files, lines, cgroups, cgroups_by_task, cgroup_ids: CgroupIds::default() }
    }

    /// For what is read each time that it is looked at.
    pub(crate) fn files(&mut self) -> &mut TaskFiles {
        &mut self.files
    }

    /// Gives tasks that know no cgroup the one of their process.
    pub(crate) fn find_cgroups(&mut self, store: &mut TaskStore) {
        self.cgroup_ids.fill(store, &mut self.files);
    }

    /// A task's command line; none where it has none (kernel threads) or may not be read.
    pub(crate) fn line(&mut self, key: TaskKey) -> Option<&str> {
        forget_beyond(&mut self.lines, KEPT);
        let files = &mut self.files;
        self.lines.entry(key).or_insert_with(|| files.command_line(key.pid).ok().flatten()).as_deref()
    }

    /// A row's command line; none where it is no single living task.
    pub(crate) fn line_of(&mut self, row: &GroupRow<'_>) -> Option<&str> {
        let is_one = !row.is_ended && !row.is_several();
        is_one.then(|| self.line(row.key())).flatten()
    }

    /// The path of a row's cgroup; none where it may be of several. `living` are its living tasks.
    pub(crate) fn cgroup_of<'a>(
        &mut self,
        row: &GroupRow<'_>,
        living: impl Iterator<Item = &'a TaskRow>,
    ) -> Option<&str> {
        let has_one = row.cgroup().is_some() || !row.is_several();
        if !has_one {
            return None;
        }
        if row.cgroup().is_some_and(|id| self.cgroup_ids.path(id).is_some()) {
            return row.cgroup().and_then(|id| self.cgroup_ids.path(id));
        }
        if let Some(id) = row.cgroup().filter(|id| self.cgroups.contains_key(id)) {
            return self.cgroups.get(&id).map(String::as_str);
        }
        // Any of its tasks can be asked, but one that ends while it is asked knows nothing.
        let asked = living.take(MOST_ASKED).find(|task| self.cgroup(task.key, row.cgroup()).is_some())?;
        self.cgroup(asked.key, row.cgroup())
    }

    /// The path of a task's cgroup. Tasks of one cgroup id share it.
    pub(crate) fn cgroup(&mut self, key: TaskKey, id: Option<u64>) -> Option<&str> {
        let files = &mut self.files;
        match id {
            Some(id) if self.cgroup_ids.path(id).is_some() => self.cgroup_ids.path(id),
            Some(id) => {
                forget_beyond(&mut self.cgroups, KEPT);
                kept(self.cgroups.entry(id), || files.cgroup(key.pid).ok())
            }
            None => {
                // All tasks may be asked for theirs where no id says who shares one.
                forget_beyond(&mut self.cgroups_by_task, 64 * KEPT);
                kept(self.cgroups_by_task.entry(key), || files.cgroup(key.pid).ok())
            }
        }
    }
}

/// What is kept, or what is found now and kept from now on.
fn kept<K>(entry: Entry<'_, K, String>, find: impl FnOnce() -> Option<String>) -> Option<&str> {
    Some(match entry {
        Entry::Occupied(occupied) => occupied.into_mut(),
        Entry::Vacant(vacant) => vacant.insert(find()?),
    })
}

/// Rather everything anew than without end.
fn forget_beyond<K, V>(kept: &mut HashMap<K, V>, most: usize) {
    if kept.len() >= most {
        kept.clear();
    }
}
