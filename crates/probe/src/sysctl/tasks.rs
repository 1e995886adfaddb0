//! Tasks from `kern.proc`: what FreeBSD knows of them, which is no delays.

use std::path::Path;

use facts::freebsd::boottime;
use facts::freebsd::kinfo_proc::{self, KinfoProc};
use facts::sample::Absence;
use facts::task::store::TaskStore;
use facts::task::{Cause, Delay, TaskAccount, TaskRow};
use facts::unit::Nanos;

use super::{Node, Sysctl};
use crate::roots::Roots;
use crate::task_source::{OpenError, Process, Refused, TaskRequest, TaskSource, TaskState};

const ALL_PROCESSES: Node<'_> = Node::Processes { pid: None, with_threads: false };
const ALL_THREADS: Node<'_> = Node::Processes { pid: None, with_threads: true };

/// Reads tasks.
pub(crate) struct FreeBsdTasks {
    sysctl: Sysctl,
}

impl FreeBsdTasks {
    /// Opens the one source that there is.
    ///
    /// # Errors
    /// If the root cannot be opened, or the source is not among the requested ones.
    pub(crate) fn open(roots: &Roots, request: &TaskRequest<'_>) -> Result<Self, OpenError> {
        if !request.sources.contains(&TaskSource::Sysctl) {
            return Err(OpenError::Refused(request.sources[0], Absence::Unsupported.into()));
        }
        Ok(Self::of(Sysctl::open(roots)?))
    }

    pub(super) fn of(sysctl: Sysctl) -> Self {
        Self { sysctl }
    }

    pub(super) fn into_sysctl(self) -> Sysctl {
        self.sysctl
    }

    /// The source that is used.
    pub(crate) fn source(&self) -> TaskSource {
        TaskSource::Sysctl
    }

    /// There are no better sources.
    pub(crate) fn refused(&self) -> &[(TaskSource, Refused)] {
        &[]
    }

    /// There is no such struct.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn taskstats_version(&self) -> Result<(u16, usize), Absence> {
        Err(Absence::Unsupported)
    }

    /// FreeBSD has no such switch.
    pub(crate) fn accounting_on(&self) -> Option<bool> {
        None
    }

    /// Starts a round of the store and puts all processes into it.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub(crate) fn read(&mut self, store: &mut TaskStore) -> Result<(), Absence> {
        store.begin(self.sysctl.clock());
        each(&mut self.sysctl, ALL_PROCESSES, |process| store.put(&process.row))?;
        store.remove_stale();
        Ok(())
    }

    /// Every round reads everything.
    pub(crate) fn forget(&mut self) {}

    /// There is no iterator.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn read_bare(&mut self) -> Result<usize, Absence> {
        Err(Absence::Unsupported)
    }

    /// There is nothing to add.
    pub(crate) fn complete(&mut self, _store: &mut TaskStore, _pids: impl IntoIterator<Item = u32>) {}

    /// The pids of all processes.
    ///
    /// # Errors
    /// Where they cannot be listed.
    pub(crate) fn processes(&mut self, pids: &mut Vec<u32>) -> Result<(), Absence> {
        pids.clear();
        each(&mut self.sysctl, ALL_PROCESSES, |process| pids.push(process.pid))
    }

    /// The tids of a process's threads.
    ///
    /// # Errors
    /// Where the process is gone or hidden.
    pub(crate) fn threads(&mut self, pid: u32, tids: &mut Vec<u32>) -> Result<(), Absence> {
        tids.clear();
        each(&mut self.sysctl, threads_of(pid), |thread| tids.push(thread.tid))
    }

    /// Reads threads one by one, or processes by their ids; an answer comes with its place in `tids`.
    pub(crate) fn read_threads(
        &mut self,
        tids: &[u32],
        mut read: impl FnMut(usize, Result<TaskRow, Absence>),
    ) {
        let mut found: Vec<Option<TaskRow>> = vec![None; tids.len()];
        // No call gives a thread by its id.
        let listed = each(&mut self.sysctl, ALL_THREADS, |thread| {
            for (tid, place) in tids.iter().zip(&mut found) {
                let is_leader = *tid == thread.pid && place.is_none();
                if *tid == thread.tid || is_leader {
                    let mut row = thread.row;
                    row.key.pid = *tid;
                    *place = Some(row);
                }
            }
        });
        for (index, row) in found.into_iter().enumerate() {
            read(index, row.ok_or(listed.err().unwrap_or(Absence::Gone)));
        }
    }

    /// Reads a process.
    ///
    /// # Errors
    /// Where it is gone or hidden.
    pub(crate) fn read_process(&mut self, pid: u32) -> Result<Process, Absence> {
        let living = account(&kinfo_of(&mut self.sysctl, pid)?);
        Ok(Process { living, ended: None })
    }

    /// How long a process was on a CPU, with the threads that have ended: not read here.
    pub(crate) fn process_cpu(&mut self, _pid: u32) -> Option<Nanos> {
        None
    }

    /// Reads a process that ended and was not reaped.
    ///
    /// # Errors
    /// Where it was reaped after all.
    pub(crate) fn read_ended(&mut self, pid: u32) -> Result<TaskAccount, Absence> {
        kinfo_of(&mut self.sysctl, pid).map(|process| account(&process))
    }

    /// Reads all processes.
    ///
    /// # Errors
    /// Where they cannot be listed.
    pub(crate) fn read_all_processes<R: AsMut<TaskAccount>>(
        &mut self,
        make: impl Fn(TaskAccount) -> R,
    ) -> Result<Vec<R>, Absence> {
        let mut rows = Vec::new();
        each(&mut self.sysctl, ALL_PROCESSES, |process| rows.push(make(account(&process))))?;
        Ok(rows)
    }

    /// A process's state, by the letter that Linux has for it.
    ///
    /// # Errors
    /// Where it is gone or hidden.
    pub(crate) fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        kinfo_of(&mut self.sysctl, tid)?.row.state.ok_or(Absence::Unsupported)
    }

    /// There are no cgroups.
    pub(crate) fn cgroup_io_wait(&mut self, _directory: &Path) -> Option<u64> {
        None
    }

    /// There is nothing to switch on.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn enable_accounting(&mut self) -> Result<(), Absence> {
        Err(Absence::Unsupported)
    }
}

/// A process, whose threads are counted by the kernel.
fn account(process: &KinfoProc) -> TaskAccount {
    let mut account = TaskAccount::of_thread(&process.row);
    account.sum.threads = process.threads;
    // Not known of any of them.
    Cause::ALL.into_iter().for_each(|cause| account.sum.set_delay(cause, Delay::default()));
    account
}

fn threads_of(pid: u32) -> Node<'static> {
    Node::Processes { pid: Some(pid), with_threads: true }
}

/// One process.
pub(crate) fn kinfo_of(sysctl: &mut Sysctl, pid: u32) -> Result<KinfoProc, Absence> {
    let mut found = Err(Absence::Gone);
    each(sysctl, Node::Processes { pid: Some(pid), with_threads: false }, |process| found = Ok(process))?;
    found
}

fn each(sysctl: &mut Sysctl, node: Node<'_>, mut take: impl FnMut(KinfoProc)) -> Result<(), Absence> {
    let Node::Processes { pid, .. } = node else { return Err(Absence::Unsupported) };
    let booted = sysctl.parse("kern.boottime", boottime::parse).unwrap_or(Nanos(0));
    let now = sysctl.clock().realtime;
    for bytes in kinfo_proc::each(sysctl.read(node)?) {
        let process = KinfoProc::parse(bytes, booted, now).map_err(|_| Absence::Malformed)?;
        if pid.is_none_or(|pid| pid == process.pid) {
            take(process);
        }
    }
    Ok(())
}
