//! Tasks: every thread's figures, by the best source that is permitted.

use std::path::Path;

use facts::sample::Absence;
use facts::task::store::TaskStore;
use facts::task::{TaskAccount, TaskRow, TaskSum};
use facts::unit::{Bytes, Nanos};

#[cfg(target_os = "linux")]
use crate::linux::tasks::LinuxTasks;
use crate::roots::{Roots, System};
use crate::sysctl::tasks::FreeBsdTasks;
pub use crate::task_source::{
    BetterRows, EndedThreads, OpenError, Process, Refused, TaskRequest, TaskSource, TaskState,
};

/// Reads tasks.
pub struct TaskReader(Reader);

enum Reader {
    #[cfg(target_os = "linux")]
    Linux(Box<LinuxTasks>),
    FreeBsd(FreeBsdTasks),
}

impl TaskReader {
    /// Opens the first of the requested sources that is permitted. A captured machine has one source: /proc, or sysctl(3).
    ///
    /// # Errors
    /// If the root cannot be opened, or no source can be used.
    pub fn open(roots: &Roots, request: &TaskRequest<'_>) -> Result<Self, OpenError> {
        Ok(Self(match roots.system()? {
            #[cfg(target_os = "linux")]
            System::Linux => Reader::Linux(Box::new(LinuxTasks::open(roots, request)?)),
            System::FreeBsd => Reader::FreeBsd(FreeBsdTasks::open(roots, request)?),
        }))
    }

    /// The source that is used.
    pub fn source(&self) -> TaskSource {
        of_system!(Reader, &self.0, tasks => tasks.source())
    }

    /// Takes these rows wherever the source is /proc.
    pub fn set_better_rows(&mut self, rows: Box<dyn BetterRows>) {
        of_system!(Reader, &mut self.0, tasks => tasks.set_better_rows(rows));
    }

    /// Returns true if there are such rows.
    pub fn has_better_rows(&self) -> bool {
        of_system!(Reader, &self.0, tasks => tasks.has_better_rows())
    }

    /// Better sources, and why they cannot be used.
    pub fn refused(&self) -> &[(TaskSource, Refused)] {
        of_system!(Reader, &self.0, tasks => tasks.refused())
    }

    /// The version of `struct taskstats` and its bytes.
    ///
    /// # Errors
    /// Why taskstats cannot be used.
    pub fn taskstats_version(&self) -> Result<(u16, usize), Absence> {
        of_system!(Reader, &self.0, tasks => tasks.taskstats_version())
    }

    /// Returns the value of `kernel.task_delayacct`; `None` if the kernel has no such switch (before 5.14: on unless booted with
    /// `nodelayacct`).
    pub fn accounting_on(&self) -> Option<bool> {
        of_system!(Reader, &self.0, tasks => tasks.accounting_on())
    }

    /// How much of a process is swapped out: VmSwap of its status, proc_pid_status(5); `None` if it is gone or the system does
    /// not say.
    pub fn swapped(&mut self, pid: u32) -> Option<Bytes> {
        of_system!(Reader, &mut self.0, tasks => tasks.swapped(pid))
    }

    /// Returns true if this user may enable delay accounting: if `/proc/sys/kernel/task_delayacct` may be written.
    pub fn may_enable_accounting(&self) -> bool {
        of_system!(Reader, &self.0, tasks => tasks.may_enable_accounting())
    }

    /// Enables delay accounting for tasks that are started from now on.
    ///
    /// # Errors
    /// If the kernel has no such switch, or this user may not set it.
    pub fn enable_accounting(&mut self) -> Result<(), Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.enable_accounting())
    }

    /// Starts a round of the store and puts all tasks into it that may have changed since the last one. The caller finishes it.
    ///
    /// # Errors
    /// If tasks cannot be listed; the store is then as it was.
    pub fn read(&mut self, store: &mut TaskStore) -> Result<(), Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.read(store))
    }

    /// Lets the next round read every task.
    pub fn forget(&mut self) {
        of_system!(Reader, &mut self.0, tasks => tasks.forget());
    }

    /// Reads all tasks by the BPF iterator and puts them nowhere, for measurements; their number.
    ///
    /// # Errors
    /// If the source is another.
    pub fn read_bare(&mut self) -> Result<usize, Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.read_bare())
    }

    /// Adds to these tasks of the store what only /proc contains.
    pub fn complete(&mut self, store: &mut TaskStore, pids: impl IntoIterator<Item = u32>) {
        of_system!(Reader, &mut self.0, tasks => tasks.complete(store, pids));
    }

    /// The pids of all processes.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn processes(&mut self, pids: &mut Vec<u32>) -> Result<(), Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.processes(pids))
    }

    /// The tids of a process's threads, its leader first.
    ///
    /// # Errors
    /// If the process is gone or hidden.
    pub fn threads(&mut self, pid: u32, tids: &mut Vec<u32>) -> Result<(), Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.threads(pid, tids))
    }

    /// Reads threads one by one; a thread's row comes with its place in `tids`. Values are as the kernel reports them: a total that
    /// cannot be true can still be subtracted from a later one.
    pub fn read_threads(&mut self, tids: &[u32], each: impl FnMut(usize, Result<TaskRow, Absence>)) {
        of_system!(Reader, &mut self.0, tasks => tasks.read_threads(tids, each));
    }

    /// Reads a process: its living threads summed, and what its ended threads left.
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub fn read_process(&mut self, pid: u32) -> Result<Process, Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.read_process(pid))
    }

    /// Reads a process that has ended and was not reaped.
    ///
    /// # Errors
    /// If it was reaped.
    pub fn read_ended(&mut self, pid: u32) -> Result<TaskAccount, Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.read_ended(pid))
    }

    /// Reads its delays alone, for less.
    ///
    /// # Errors
    /// If it was reaped, or only netlink has them and is not permitted.
    pub fn read_ended_delays(&mut self, pid: u32) -> Result<TaskSum, Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.read_ended_delays(pid))
    }

    /// Reads all processes.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn read_all_processes<R: AsMut<TaskAccount>>(
        &mut self,
        make: impl Fn(TaskAccount) -> R,
    ) -> Result<Vec<R>, Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.read_all_processes(make))
    }

    /// CPU time of a process with the threads that have ended; `None` if it is not known.
    pub fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        of_system!(Reader, &mut self.0, tasks => tasks.process_cpu(pid))
    }

    /// A thread's state, by Linux' letters.
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        of_system!(Reader, &mut self.0, tasks => tasks.state(tid))
    }

    /// How many tasks of a v1 cgroup wait for I/O, by CGROUPSTATS; `None` for v2, which has no such call.
    pub fn cgroup_io_wait(&mut self, directory: &Path) -> Option<u64> {
        of_system!(Reader, &mut self.0, tasks => tasks.cgroup_io_wait(directory))
    }
}
