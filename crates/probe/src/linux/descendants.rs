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
pub use crate::task_source::Descendant;

/// From now on a descendant that loses its parent becomes a child of this process (prctl(2), PR_SET_CHILD_SUBREAPER, Linux 3.4), so
/// that every descendant can be found by its parents.
///
/// # Errors
/// If the kernel is older.
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
    /// Remembers the processes that exist already.
    pub fn from_now() -> Self {
        // If /proc cannot be listed, no descendants are found later, either.
        let before = list(|_| true).unwrap_or_default();
        Self { before: before.into_iter().map(|found| (found.key.pid, found.key)).collect() }
    }

    /// Returns true if a child existed before. Its id is not reused until it is reaped.
    pub fn was_there(&self, pid: u32) -> bool {
        self.before.contains_key(&pid)
    }

    /// Returns the descendants that live, parents before their children.
    ///
    /// # Errors
    /// If /proc cannot be listed.
    pub fn list(&self) -> Result<Vec<Descendant>, Absence> {
        let was_there = |key: &TaskKey| self.before.get(&key.pid).is_some_and(|before| before.is_same(key));
        let mut found = list(|key| !was_there(key))?;
        found.retain(|process| !process.is_dead);
        Ok(found)
    }

    /// Sends a signal to all of them but those that have got it already. Returns how many there were, these included.
    ///
    /// # Errors
    /// As for [`Self::list`]. One that has ended meanwhile, or may not be signalled, is passed over.
    pub fn send_all(&self, signal: TaskSignal, except: &[u32]) -> Result<usize, Absence> {
        let found = self.list()?;
        for process in found.iter().filter(|process| !except.contains(&process.key.pid)) {
            let _ = control::send(process.key, signal);
        }
        Ok(found.len())
    }
}

/// Returns true if this process has any child, living or not yet reaped. A process without children has no descendants either, since
/// orphans of theirs would be its own.
fn has_children() -> bool {
    let looks = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, looks), Err(Errno::CHILD))
}

/// Lists the processes that `takes` accepts and those below them, parents before their children.
fn list(takes: impl Fn(&TaskKey) -> bool) -> Result<Vec<Descendant>, Absence> {
    if !has_children() {
        return Ok(Vec::new());
    }
    let root = Roots::live().open().map_err(|_| Absence::Unsupported)?;
    let mut pids = Vec::new();
    Listing::open(&root).processes(&mut pids)?;
    let mut procfs = Procfs::open(root);
    let mut children: HashMap<u32, Vec<Descendant>> = HashMap::new();
    for pid in pids {
        // A process that has ended meanwhile is no descendant.
        let Ok(stat) = procfs.stat(pid) else { continue };
        let key = TaskKey { pid, start: procfs.start(&stat) };
        if takes(&key) {
            // The state is the main thread's. Other threads may run on after its end, and so may children of the process, which
            // are looked for below a dead one, too: until it is reaped they may be its own.
            let is_dead = b"ZX".contains(&stat.state) && stat.threads <= 1;
            children.entry(stat.ppid).or_default().push(Descendant { key, comm: stat.comm, is_dead });
        }
    }
    let mut found = children.remove(&std::process::id()).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let below = children.remove(&process.key.pid).unwrap_or_default();
        found.extend(below);
        next += 1;
    }
    Ok(found)
}
