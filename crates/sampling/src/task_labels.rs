//! The properties of a task that only /proc contains and that do not change: its command line and its cgroup. Read once for each task
//! that is asked for, and kept for as many as are shown.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use facts::task::groups::GroupRow;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use probe::task_detail::TaskFiles;

use crate::cgroup_ids::CgroupIds;

/// More than a screen has; beyond this all are read again.
const KEPT: usize = 4096;
/// Tasks of one row whose cgroup is looked for.
const MAX_ASKED: usize = 4;

/// Command lines and cgroups that were read.
pub struct TaskLabels {
    files: TaskFiles,
    lines: HashMap<TaskKey, Option<String>>,
    /// Only those that were found: if one task of a cgroup cannot be read, the next may be.
    cgroups: HashMap<u64, String>,
    cgroups_by_task: HashMap<TaskKey, String>,
    /// Used if the source has no ids for cgroups.
    cgroup_ids: CgroupIds,
    /// The known labels were given: a task of the past may have the pid of another one.
    is_past: bool,
}

impl TaskLabels {
    /// Reads these files.
    pub fn new(files: TaskFiles) -> Self {
        let (lines, cgroups, cgroups_by_task) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { files, lines, cgroups, cgroups_by_task, cgroup_ids: CgroupIds::default(), is_past: false }
    }

    /// Shows what was recorded from now on: the present is not read any more.
    pub fn show_past(&mut self, cgroups: HashMap<u64, String>, lines: HashMap<TaskKey, String>) {
        self.cgroups = cgroups;
        self.lines = lines.into_iter().map(|(key, line)| (key, Some(line))).collect();
        (self.cgroups_by_task, self.cgroup_ids) = (HashMap::new(), CgroupIds::default());
        self.is_past = true;
    }

    /// The files themselves, for what changes.
    pub fn files(&mut self) -> &mut TaskFiles {
        &mut self.files
    }

    /// Gives tasks without a cgroup that of their process.
    pub fn find_cgroups(&mut self, store: &mut TaskStore) {
        if !self.is_past {
            self.cgroup_ids.fill(store, &mut self.files);
        }
    }

    /// A task's command line; `None` for a kernel thread, and if it may not be read.
    pub fn line(&mut self, key: TaskKey) -> Option<&str> {
        if self.is_past {
            return self.lines.get(&key)?.as_deref();
        }
        forget_beyond(&mut self.lines, KEPT);
        let files = &mut self.files;
        self.lines.entry(key).or_insert_with(|| files.command_line(key.pid).ok().flatten()).as_deref()
    }

    /// A row's command line; `None` if the row is not a single living task.
    pub fn line_of(&mut self, row: &GroupRow<'_>) -> Option<&str> {
        let is_one = !row.is_ended && !row.is_several();
        is_one.then(|| self.line(row.key())).flatten()
    }

    /// The path of a row's cgroup; `None` if its tasks may be in several. `living` are its living tasks.
    pub fn cgroup_of<'a>(
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
        // The path can be read of any of its tasks, but not of one that is ending.
        let asked = living.take(MAX_ASKED).find(|task| self.cgroup(task.key, row.cgroup()).is_some())?;
        self.cgroup(asked.key, row.cgroup())
    }

    /// The path of a cgroup if it is known without asking the system.
    pub fn known_cgroup(&self, id: Option<u64>) -> Option<&str> {
        let id = id?;
        self.cgroup_ids.path(id).or_else(|| self.cgroups.get(&id).map(String::as_str))
    }

    /// The path of a task's cgroup. Tasks of one cgroup id share it.
    pub fn cgroup(&mut self, key: TaskKey, id: Option<u64>) -> Option<&str> {
        if self.is_past {
            return self.cgroups.get(&id?).map(String::as_str);
        }
        let files = &mut self.files;
        match id {
            Some(id) if self.cgroup_ids.path(id).is_some() => self.cgroup_ids.path(id),
            Some(id) => {
                forget_beyond(&mut self.cgroups, KEPT);
                kept(self.cgroups.entry(id), || files.cgroup(key.pid).ok())
            }
            None => {
                // Without ids every task is read.
                forget_beyond(&mut self.cgroups_by_task, 64 * KEPT);
                kept(self.cgroups_by_task.entry(key), || files.cgroup(key.pid).ok())
            }
        }
    }
}

/// The value that is kept; otherwise the one that is found now, which is then kept.
fn kept<K>(entry: Entry<'_, K, String>, find: impl FnOnce() -> Option<String>) -> Option<&str> {
    Some(match entry {
        Entry::Occupied(occupied) => occupied.into_mut(),
        Entry::Vacant(vacant) => vacant.insert(find()?),
    })
}

/// Bounds a map.
fn forget_beyond<K, V>(kept: &mut HashMap<K, V>, most: usize) {
    if kept.len() >= most {
        kept.clear();
    }
}
