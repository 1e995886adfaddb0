//! The processes that descend from this one, wherever they went: other groups, other sessions, orphans that were adopted.

use std::collections::HashMap;

use facts::sample::Absence;
use facts::task::TaskKey;
use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};

use super::control;
use super::tasks::listing::Listing;
use super::tasks::procfs::Procfs;
use crate::roots::Roots;
use crate::signal::TaskSignal;
use crate::task_reading::TaskState;

/// From now on whoever loses its parent below this process becomes its child (prctl(2), PR_SET_CHILD_SUBREAPER, Linux 3.4), so
/// that every descendant can be found by its parents.
///
/// # Errors
/// Where the kernel is older.
pub fn adopt_orphans() -> Result<(), Absence> {
    set_child_subreaper(Some(getpid())).map_err(super::files::absence)
}

/// The descendants that began after this was made. Others may be there: what the same process started before it executed whit,
/// and what an earlier command left behind.
#[derive(Debug, Default)]
pub struct Descendants {
    before: HashMap<u32, TaskKey>,
}

impl Descendants {
    /// Notes who is there already.
    pub fn from_now() -> Self {
        // Where /proc cannot be listed nobody is found later, either.
        let before = list(|_, _| true).unwrap_or_default();
        Self { before: before.into_iter().map(|key| (key.pid, key)).collect() }
    }

    /// Whether a child was there before. While it has not been reaped nobody else has its id.
    pub fn was_there(&self, pid: u32) -> bool {
        self.before.contains_key(&pid)
    }

    /// Those that live, parents before their children.
    ///
    /// # Errors
    /// Where /proc cannot be listed.
    pub fn list(&self) -> Result<Vec<TaskKey>, Absence> {
        let was_there = |key: &TaskKey| self.before.get(&key.pid).is_some_and(|before| before.is_same(key));
        // A zombie has nothing left to end.
        list(|key, state| !b"ZX".contains(&state) && !was_there(key))
    }

    /// Sends a signal to all of them. How many there were.
    ///
    /// # Errors
    /// As for [`Self::list`]. One that has ended meanwhile, or may not be signalled, is passed over.
    pub fn send_all(&self, signal: TaskSignal) -> Result<usize, Absence> {
        let found = self.list()?;
        for key in &found {
            let _ = control::send(*key, signal);
        }
        Ok(found.len())
    }
}

/// Whether this process has any child, living or not yet reaped. Who has none has no descendants either, since orphans of
/// theirs would be its own.
fn has_children() -> bool {
    let looks = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, looks), Err(Errno::CHILD))
}

/// Those that are taken, by key and state; of the others what is below them is left out, too.
fn list(takes: impl Fn(&TaskKey, TaskState) -> bool) -> Result<Vec<TaskKey>, Absence> {
    if !has_children() {
        return Ok(Vec::new());
    }
    let root = Roots::live().open().map_err(|_| Absence::Unsupported)?;
    let mut pids = Vec::new();
    Listing::open(&root).processes(&mut pids)?;
    let mut procfs = Procfs::open(root);
    let mut children: HashMap<u32, Vec<TaskKey>> = HashMap::new();
    for pid in pids {
        // Who has ended meanwhile is nobody's descendant any more.
        let Ok(stat) = procfs.stat(pid) else { continue };
        let key = TaskKey { pid, start: procfs.start(&stat) };
        if takes(&key, stat.state) {
            children.entry(stat.ppid).or_default().push(key);
        }
    }
    let mut found = children.remove(&std::process::id()).unwrap_or_default();
    let mut next = 0;
    while let Some(key) = found.get(next) {
        let below = children.remove(&key.pid).unwrap_or_default();
        found.extend(below);
        next += 1;
    }
    Ok(found)
}
