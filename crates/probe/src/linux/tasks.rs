//! Tasks: every thread's figures, by the best source that is permitted.

#[cfg_attr(not(feature = "bpf"), path = "tasks/no_bpf.rs")]
mod bpf;
#[cfg(feature = "bpf")]
mod bpf_programs;
mod left_out;
pub(crate) mod listing;
mod processes;
pub(crate) mod procfs;
mod resident;
mod round;
mod starts;
pub(crate) mod taskstats;
mod thread_list;

use std::path::Path;

use facts::sample::Absence;
use facts::task::TaskRow;
use facts::task::figure::FigureSet;
use facts::unit::{Bytes, Nanos};

use crate::linux::privilege;
use crate::roots::Roots;
use bpf::BpfTasks;
use left_out::LeftOut;
use listing::Listing;
use procfs::Procfs;
use resident::Resident;
use starts::Starts;
use taskstats::Taskstats;
use thread_list::ThreadList;

use crate::task_source::{BetterRows, OpenError, Refused, TaskRequest, TaskSource, TaskState};
pub(crate) use taskstats::{stats_attribute, taskstats_family};

/// linux/capability.h.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Reads tasks.
pub(crate) struct LinuxTasks {
    source: OpenSource,
    refused: Vec<(TaskSource, Refused)>,
    taskstats: Result<Taskstats, Absence>,
    procfs: Procfs,
    listing: Listing,
    accounting_on: Option<bool>,
    extra: FigureSet,
    /// Kept for its memory.
    threads: Vec<u32>,
}

/// The state that a source needs to read all tasks again and again.
enum OpenSource {
    Bpf(Box<BpfTasks>, LeftOut),
    Taskstats { threads: Box<ThreadList>, starts: Starts, resident: Resident },
    Procfs { pids: Vec<u32> },
}

impl LinuxTasks {
    /// Opens the first of the requested sources that is permitted. A captured machine is read by /proc.
    ///
    /// # Errors
    /// If the root cannot be opened, or no source can be used.
    pub(crate) fn open(roots: &Roots, request: &TaskRequest<'_>) -> Result<Self, OpenError> {
        let mut procfs = Procfs::open(roots.open()?);
        let listing = Listing::open(procfs.root());
        let accounting_on = procfs.accounting_switch();
        // A user who requests /proc alone wants to see what unprivileged users see.
        let taskstats = match request.sources.contains(&TaskSource::Taskstats)
            || request.sources.contains(&TaskSource::Bpf)
        {
            true if roots.is_captured() => Err(Absence::Unsupported),
            true => Taskstats::open(),
            false => Err(Absence::NotWanted),
        };
        let mut refused = Vec::new();
        for source in request.sources {
            let opened = match source {
                TaskSource::Bpf => {
                    open_bpf(roots).map(|tasks| OpenSource::Bpf(Box::new(tasks), LeftOut::default()))
                }
                TaskSource::Taskstats => match &taskstats {
                    Ok(_) => Ok(OpenSource::Taskstats {
                        threads: Box::default(),
                        starts: Starts::default(),
                        resident: Resident::default(),
                    }),
                    Err(absence) => Err((*absence).into()),
                },
                TaskSource::Procfs => Ok(OpenSource::Procfs { pids: Vec::new() }),
                TaskSource::Sysctl => Err(Absence::Unsupported.into()),
            };
            match opened {
                Ok(source) => {
                    let (extra, threads) = (request.extra, Vec::new());
                    return Ok(Self {
                        source,
                        refused,
                        taskstats,
                        procfs,
                        listing,
                        accounting_on,
                        extra,
                        threads,
                    });
                }
                Err(reason) => refused.push((*source, reason)),
            }
        }
        let (source, reason) = refused.remove(0);
        Err(OpenError::Refused(source, reason))
    }

    /// The source that is used.
    pub(crate) fn source(&self) -> TaskSource {
        match &self.source {
            OpenSource::Bpf(..) => TaskSource::Bpf,
            OpenSource::Taskstats { .. } => TaskSource::Taskstats,
            OpenSource::Procfs { .. } => TaskSource::Procfs,
        }
    }

    pub(crate) fn set_better_rows(&mut self, rows: Box<dyn BetterRows>) {
        self.procfs.better_rows = Some(rows);
    }

    pub(crate) fn has_better_rows(&self) -> bool {
        self.procfs.better_rows.is_some()
    }

    /// Better sources, and why they cannot be used.
    pub(crate) fn refused(&self) -> &[(TaskSource, Refused)] {
        &self.refused
    }

    /// The version of `struct taskstats` and its bytes; why there is none.
    ///
    /// # Errors
    /// Why taskstats cannot be used.
    pub(crate) fn taskstats_version(&self) -> Result<(u16, usize), Absence> {
        let taskstats = self.taskstats.as_ref().map_err(|absence| *absence)?;
        Ok((taskstats.version, taskstats.length))
    }

    /// Returns the value of `kernel.task_delayacct`; `None` if the kernel has no such switch (before 5.14: on unless booted with
    /// `nodelayacct`).
    pub(crate) fn accounting_on(&self) -> Option<bool> {
        self.accounting_on
    }

    /// The pids of all processes.
    ///
    /// # Errors
    /// If /proc cannot be listed.
    pub(crate) fn processes(&mut self, pids: &mut Vec<u32>) -> Result<(), Absence> {
        self.listing.processes(pids)
    }

    /// The tids of a process's threads, its leader first.
    ///
    /// # Errors
    /// If the process is gone or hidden.
    pub(crate) fn threads(&mut self, pid: u32, tids: &mut Vec<u32>) -> Result<(), Absence> {
        self.listing.threads(pid, tids)
    }

    /// Reads threads one by one; a thread's row comes with its place in `tids`. Values are as the kernel reports them: a total that
    /// cannot be true can still be subtracted from a later one.
    pub(crate) fn read_threads(&mut self, tids: &[u32], each: impl FnMut(usize, Result<TaskRow, Absence>)) {
        self.read_threads_of(None, tids, each);
    }

    /// Reads threads of one process, or of any, in the same way.
    fn read_threads_of(
        &mut self,
        pid: Option<u32>,
        tids: &[u32],
        mut each: impl FnMut(usize, Result<TaskRow, Absence>),
    ) {
        match &mut self.taskstats {
            Ok(taskstats) => taskstats.read(tids, self.accounting_on, &mut each),
            Err(_) => {
                for (index, tid) in tids.iter().enumerate() {
                    each(index, self.procfs.read_row(pid, *tid, self.accounting_on, self.extra));
                }
            }
        }
    }

    /// CPU time of a process with the threads that have ended; `None` if it is gone.
    pub(crate) fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        self.procfs.process_cpu(pid)
    }

    /// How much of a process is swapped out.
    pub(crate) fn swapped(&mut self, pid: u32) -> Option<Bytes> {
        self.procfs.swapped(pid)
    }

    /// A thread's state.
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub(crate) fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        self.procfs.state(tid)
    }

    /// How many tasks of a v1 cgroup wait for I/O, by CGROUPSTATS; none for v2, which has no such call.
    pub(crate) fn cgroup_io_wait(&mut self, directory: &Path) -> Option<u64> {
        self.taskstats.as_mut().ok()?.cgroup_io_wait(directory)
    }

    /// Returns true if this user may switch delay accounting on.
    pub(crate) fn may_enable_accounting(&self) -> bool {
        self.procfs.may_enable_accounting()
    }

    /// Switches delay accounting on for tasks made from now on.
    ///
    /// # Errors
    /// If the kernel has no such switch or this user may not set it.
    pub(crate) fn enable_accounting(&mut self) -> Result<(), Absence> {
        self.procfs.enable_accounting()?;
        self.accounting_on = Some(true);
        Ok(())
    }
}

/// Checks the permission first: loading takes long.
fn open_bpf(roots: &Roots) -> Result<BpfTasks, Refused> {
    if roots.is_captured() {
        return Err(Absence::Unsupported.into());
    }
    if !(privilege::has(1 << CAP_SYS_ADMIN) || privilege::has(1 << CAP_BPF | 1 << CAP_PERFMON)) {
        return Err(Absence::Denied.into());
    }
    BpfTasks::open()
}
