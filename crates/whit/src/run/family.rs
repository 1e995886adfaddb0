//! The processes that a command has become: how they are signalled, and which of them are left.

use facts::sample::Absence;
use probe::command_cgroup::CommandCgroup;
use probe::control::{self, TaskSignal};
use probe::descendants::Descendants;
use rustix::fd::BorrowedFd;

use probe::random;

/// A process that descends from the command and still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Survivor {
    pub(crate) pid: u32,
    /// Its name; empty if it is not known.
    pub(crate) comm: String,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Family {
    /// The descendants of whit that are the command's.
    pub(super) descendants: Descendants,
    /// Only for a command with a time limit: it catches what /proc does not show.
    cgroup: Option<CommandCgroup>,
    /// The command itself, until it has been reaped. Its pid is not reused until then.
    pub(super) child: Option<u32>,
}

impl Family {
    /// Before the command is started.
    pub(super) fn new(has_time_limit: bool) -> Self {
        Self {
            descendants: Descendants::from_now(),
            // Without one the tree is found by its parents.
            cgroup: has_time_limit.then(|| CommandCgroup::make("whit-run", &random::hex()).ok()).flatten(),
            child: None,
        }
    }

    /// Where the command moves itself into its cgroup.
    pub(super) fn cgroup_processes(&self) -> Option<BorrowedFd<'_>> {
        self.cgroup.as_ref().map(CommandCgroup::processes_file)
    }

    /// Signals every process; the command itself even if neither a cgroup nor /proc shows any.
    pub(super) fn send_all(&self, signal: TaskSignal) {
        let signalled = self.cgroup.as_ref().map(|cgroup| cgroup.send_all(signal)).unwrap_or_default();
        // Also with a cgroup: root may have moved a process elsewhere. To some programs a second signal means "at once".
        let listed = self.descendants.send_all(signal, &signalled);
        if self.cgroup.is_none() && listed.unwrap_or(0) == 0 {
            self.send(signal);
        }
    }

    /// Signals the command itself.
    pub(super) fn send(&self, signal: TaskSignal) {
        if let Some(child) = self.child {
            // It may have become another user's.
            let _ = control::send_to_child(child, signal);
        }
    }

    /// Which of them still run.
    ///
    /// # Errors
    /// Why that cannot be known, without a cgroup and without /proc.
    pub(super) fn survivors(&self) -> Result<Vec<Survivor>, Absence> {
        let listed = self.descendants.list();
        if self.cgroup.is_none() {
            listed.as_ref().map_err(|absence| *absence)?;
        }
        let mut survivors: Vec<Survivor> = Vec::new();
        for found in listed.into_iter().flatten() {
            survivors.push(Survivor {
                pid: found.key.pid,
                comm: String::from_utf8_lossy(found.comm.as_bytes()).into_owned(),
            });
        }
        for pid in self.cgroup.iter().flat_map(CommandCgroup::processes) {
            if survivors.iter().all(|known| known.pid != pid) && self.child != Some(pid) {
                survivors.push(Survivor { pid, comm: String::new() });
            }
        }
        Ok(survivors)
    }
}
