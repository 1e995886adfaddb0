//! The processes that descend from this one, wherever they went: other groups, other sessions, orphans that were adopted.

use std::collections::HashMap;

use facts::sample::Absence;
use facts::task::TaskKey;
use rustix::process::{getpid, set_child_subreaper};

use super::control;
use super::tasks::listing::Listing;
use super::tasks::procfs::Procfs;
use crate::roots::Roots;
use crate::signal::TaskSignal;

/// From now on whoever loses its parent below this process becomes its child (prctl(2), PR_SET_CHILD_SUBREAPER, Linux 3.4), so
/// that every descendant can be found by its parents.
///
/// # Errors
/// Where the kernel is older.
pub fn adopt_orphans() -> Result<(), Absence> {
    set_child_subreaper(Some(getpid())).map_err(super::files::absence)
}

/// All living descendants, parents before their children.
///
/// # Errors
/// Where /proc cannot be listed.
pub fn list() -> Result<Vec<TaskKey>, Absence> {
    let root = Roots::live().open().map_err(|_| Absence::Unsupported)?;
    let mut pids = Vec::new();
    Listing::open(&root).processes(&mut pids)?;
    let mut procfs = Procfs::open(root);
    let mut children: HashMap<u32, Vec<TaskKey>> = HashMap::new();
    for pid in pids {
        // Who has ended meanwhile is nobody's descendant any more; a zombie has nothing left to end.
        let Ok(stat) = procfs.stat(pid) else { continue };
        if !b"ZX".contains(&stat.state) {
            let start = procfs.start(&stat);
            children.entry(stat.ppid).or_default().push(TaskKey { pid, start });
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

/// Sends a signal to all of them. How many there were.
///
/// # Errors
/// As for [`list`]. One that has ended meanwhile, or may not be signalled, is passed over.
pub fn send_all(signal: TaskSignal) -> Result<usize, Absence> {
    let found = list()?;
    for key in &found {
        let _ = control::send(*key, signal);
    }
    Ok(found.len())
}
