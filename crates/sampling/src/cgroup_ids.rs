//! Assigns ids to cgroups. Of the task sources, only BPF reports the kernel's ids. For the others, each path in /proc/PID/cgroup gets
//! an id.

use std::collections::HashMap;

use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use probe::task_detail::TaskFiles;

/// The first id that whit assigns. The kernel counts its ids from 1 and does not reach it.
const OWN: u64 = 1 << 62;
/// The path of a process is read again once in this number of rounds. A move to another cgroup is noticed at most so many rounds later.
const ROUNDS: u32 = 8;
/// The most paths that get an id, more than a machine has cgroups. The cgroup of a process in a further path is not known.
const MAX_PATHS: usize = 100_000;

/// The ids that paths were given, and the cgroup of each process as it was read last.
#[derive(Debug, Default)]
pub(crate) struct CgroupIds {
    ids: HashMap<String, u64>,
    paths: Vec<String>,
    by_process: HashMap<TaskKey, Option<u64>>,
    round: u32,
}

impl CgroupIds {
    /// Gives tasks the cgroup of their process.
    pub(crate) fn fill(&mut self, store: &mut TaskStore, files: &mut TaskFiles) {
        self.round = self.round.wrapping_add(1);
        let mut known = HashMap::with_capacity(self.by_process.len());
        let mut of_process: HashMap<u32, u64> = HashMap::new();
        for row in store.rows().filter(|row| row.key.pid == row.process()) {
            let key = row.key;
            let before = self.by_process.get(&key).copied();
            let is_due = key.pid.wrapping_add(self.round).is_multiple_of(ROUNDS);
            let id = match before {
                Some(Some(id)) if !is_due => Some(id),
                // If the path cannot be read, because the process is ending for example, the process keeps its last id.
                _ => self.read(key.pid, files).or(before.flatten()),
            };
            of_process.extend(id.map(|id| (key.pid, id)));
            known.insert(key, id);
        }
        self.by_process = known;
        let of_row =
            |row: &TaskRow| Some((row.key.pid, of_process.get(&row.process()).copied()?, row.cgroup));
        let moved = store.rows().filter_map(of_row).filter(|(_, id, cgroup)| *cgroup != Some(*id));
        let moved: Vec<_> = moved.collect();
        for (pid, id, _) in moved {
            store.amend(pid, |row| row.cgroup = Some(id));
        }
    }

    /// The path for an id that was assigned here; `None` for other ids.
    pub(crate) fn path(&self, id: u64) -> Option<&str> {
        self.paths.get(usize::try_from(id.checked_sub(OWN)?).ok()?).map(String::as_str)
    }

    fn read(&mut self, pid: u32, files: &mut TaskFiles) -> Option<u64> {
        let path = files.cgroup(pid).ok()?;
        if let Some(id) = self.ids.get(&path) {
            return Some(*id);
        }
        if self.paths.len() >= MAX_PATHS {
            return None;
        }
        let id = OWN + self.paths.len() as u64;
        self.paths.push(path.clone());
        self.ids.insert(path, id);
        Some(id)
    }
}
