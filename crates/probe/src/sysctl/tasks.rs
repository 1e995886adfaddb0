//! Tasks from `kern.proc`: what FreeBSD knows of them, which is no delays.

use std::collections::HashMap;
use std::path::Path;

use facts::freebsd::boottime;
use facts::freebsd::kinfo_proc::{self, KinfoProc};
use facts::sample::Absence;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;
use facts::task::{TaskAccount, TaskRow, TaskSum};
use facts::unit::{Bytes, Nanos};

use super::{Node, Sysctl};
use crate::roots::Roots;
use crate::task_source::{
    BetterRows, EndedThreads, OpenError, Process, Refused, TaskRequest, TaskSource, TaskState,
};

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

    /// Does nothing: the kernel counts no delays, so that no other program has more.
    pub(crate) fn set_better_rows(&mut self, _: Box<dyn BetterRows>) {}

    pub(crate) fn has_better_rows(&self) -> bool {
        false
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

    /// Starts a round of the store and puts all threads into it. No thread is the main one.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub(crate) fn read(&mut self, store: &mut TaskStore) -> Result<(), Absence> {
        store.begin(self.sysctl.clock());
        self.put_all(store).inspect_err(|_| store.abandon())
    }

    fn put_all(&mut self, store: &mut TaskStore) -> Result<(), Absence> {
        // First: what a thread does meanwhile is counted in the next round.
        each(&mut self.sysctl, ALL_PROCESSES, |process| {
            store
                .process_cpu
                .extend(process.row.figures.get(Figure::ON_CPU).map(|ns| (process.pid, Nanos(ns))));
        })?;
        each(&mut self.sysctl, ALL_THREADS, |thread| store.put(&row_of_thread(&thread)))?;
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
    /// If they cannot be listed.
    pub(crate) fn processes(&mut self, pids: &mut Vec<u32>) -> Result<(), Absence> {
        pids.clear();
        each(&mut self.sysctl, ALL_PROCESSES, |process| pids.push(process.pid))
    }

    /// The tids of a process's threads.
    ///
    /// # Errors
    /// If the process is gone or hidden.
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
        let places: HashMap<u32, usize> = tids.iter().copied().zip(0..).collect();
        // No call gives a thread by its id.
        let listed = each(&mut self.sysctl, ALL_THREADS, |thread| {
            if let Some(place) = places.get(&thread.tid) {
                found[*place] = Some(row_of_thread(&thread));
            }
            if let Some(place) = places.get(&thread.pid).filter(|place| found[**place].is_none()) {
                found[*place] = Some(thread.row);
            }
        });
        for (index, row) in found.into_iter().enumerate() {
            read(index, row.ok_or(listed.err().unwrap_or(Absence::Gone)));
        }
    }

    /// Reads a process.
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub(crate) fn read_process(&mut self, pid: u32) -> Result<Process, Absence> {
        let whole = kinfo_of(&mut self.sysctl, pid)?.row.figures.get(Figure::ON_CPU).map(Nanos);
        let mut living = None;
        each(&mut self.sysctl, threads_of(pid), |thread| add_to(&mut living, &thread))?;
        let living = living.ok_or(Absence::Gone)?;
        let on_cpu = EndedThreads::on_cpu_beside(whole, living.sum.on_cpu(), living.sum.threads);
        let ended = on_cpu.map(|on_cpu| EndedThreads { on_cpu: Some(on_cpu), ..EndedThreads::default() });
        Ok(Process { living, ended })
    }

    /// CPU time of a process with the threads that have ended.
    pub(crate) fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        kinfo_of(&mut self.sysctl, pid).ok()?.row.figures.get(Figure::ON_CPU).map(Nanos)
    }

    /// Reads a process that ended and was not reaped.
    ///
    /// # Errors
    /// If it was reaped after all.
    pub(crate) fn read_ended(&mut self, pid: u32) -> Result<TaskAccount, Absence> {
        kinfo_of(&mut self.sysctl, pid).map(|process| TaskAccount::of_thread(&process.row))
    }

    /// The kernel counts none.
    pub(crate) fn read_ended_delays(&mut self, _pid: u32) -> Result<TaskSum, Absence> {
        Err(Absence::Unsupported)
    }

    /// Reads all processes.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub(crate) fn read_all_processes<R: AsMut<TaskAccount>>(
        &mut self,
        make: impl Fn(TaskAccount) -> R,
    ) -> Result<Vec<R>, Absence> {
        // The threads of a process follow each other.
        let (mut rows, mut living) = (Vec::new(), None::<TaskAccount>);
        each(&mut self.sysctl, ALL_THREADS, |thread| {
            if living.as_ref().is_some_and(|living| living.key.pid != thread.pid) {
                rows.extend(living.take().map(&make));
            }
            add_to(&mut living, &thread);
        })?;
        rows.extend(living.map(&make));
        Ok(rows)
    }

    /// A process's state, by the letter that Linux has for it.
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub(crate) fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        kinfo_of(&mut self.sysctl, tid)?.row.state.ok_or(Absence::Unsupported)
    }

    /// There are no cgroups.
    pub(crate) fn cgroup_io_wait(&mut self, _directory: &Path) -> Option<u64> {
        None
    }

    /// FreeBSD does not say.
    pub(crate) fn swapped(&mut self, _pid: u32) -> Option<Bytes> {
        None
    }

    /// There is nothing to switch on.
    pub(crate) fn may_enable_accounting(&self) -> bool {
        false
    }

    /// There is nothing to switch on.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn enable_accounting(&mut self) -> Result<(), Absence> {
        Err(Absence::Unsupported)
    }
}

/// A thread by its own id. Its wall time is that of the process, whose start every thread's record contains.
fn row_of_thread(thread: &KinfoProc) -> TaskRow {
    let mut row = thread.row;
    row.key.pid = thread.tid;
    row
}

/// Adds a thread to its process.
fn add_to(process: &mut Option<TaskAccount>, thread: &KinfoProc) {
    match process {
        Some(process) => process.add_thread(&thread.row),
        None => *process = Some(TaskAccount::of_thread(&thread.row)),
    }
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
    let mut is_empty = true;
    for bytes in kinfo_proc::each(sysctl.read(node)?) {
        let process =
            bytes.and_then(|bytes| KinfoProc::parse(bytes, booted, now)).map_err(|_| Absence::Malformed)?;
        is_empty = false;
        // The idle threads are as old as the machine and always on a CPU.
        if !process.is_idle && pid.is_none_or(|pid| pid == process.pid) {
            take(process);
        }
    }
    // No machine is without processes.
    if is_empty && pid.is_none() { Err(Absence::Malformed) } else { Ok(()) }
}
