//! Tasks from `kern.proc`: what FreeBSD knows of them, which is no delays.

use std::path::Path;

use facts::freebsd::boottime;
use facts::freebsd::kinfo_proc::{self, KinfoProc, ProcessState};
use facts::sample::Absence;
use facts::task::Task;
use facts::unit::Nanos;

use super::sysctl::Sysctl;
use crate::clock_now;
use crate::roots::{RootError, Roots};
pub use crate::task_reading::{EndedThreads, Method, Process, TaskState};

const CTL_KERN: i32 = 1;
const KERN_PROC: i32 = 14;
const KERN_PROC_PID: i32 = 1;
const KERN_PROC_PROC: i32 = 8;
const ALL_PROCESSES: [i32; 3] = [CTL_KERN, KERN_PROC, KERN_PROC_PROC];
/// Beside either: a struct for each thread.
const INC_THREAD: i32 = 0x10;

/// Reads tasks.
pub struct TaskReader {
    sysctl: Sysctl,
}

impl TaskReader {
    /// Opens the one way there is.
    ///
    /// # Errors
    /// Where the root cannot be opened.
    pub fn open(roots: &Roots) -> Result<Self, RootError> {
        roots.open_live()?;
        Ok(Self { sysctl: Sysctl::default() })
    }

    /// The same: there is no other.
    ///
    /// # Errors
    /// As above.
    pub fn open_procfs(roots: &Roots) -> Result<Self, RootError> {
        Self::open(roots)
    }

    /// The way that is taken.
    pub fn method(&self) -> Method {
        Method::Sysctl
    }

    /// Nothing is counted, and there is nothing to switch on.
    pub fn accounting_on(&self) -> Option<bool> {
        Some(false)
    }

    /// The pids of all processes.
    ///
    /// # Errors
    /// Where they cannot be listed.
    pub fn processes(&mut self, pids: &mut Vec<u32>) -> Result<(), Absence> {
        pids.clear();
        each(&mut self.sysctl, &ALL_PROCESSES, |process| pids.push(process.pid))
    }

    /// The tids of a process's threads.
    ///
    /// # Errors
    /// Where the process is gone or hidden.
    pub fn threads(&mut self, pid: u32, tids: &mut Vec<u32>) -> Result<(), Absence> {
        tids.clear();
        each(&mut self.sysctl, &threads_of(pid), |thread| tids.push(thread.tid))
    }

    /// Reads threads one by one, or processes by their ids; an answer comes with its place in `tids`.
    pub fn read_threads(&mut self, tids: &[u32], mut read: impl FnMut(usize, Result<&mut Task, Absence>)) {
        let mut found: Vec<Option<Task>> = vec![None; tids.len()];
        // No call gives a thread by its id.
        let all = [CTL_KERN, KERN_PROC, KERN_PROC_PROC | INC_THREAD, 0];
        let listed = each(&mut self.sysctl, &all, |thread| {
            for (tid, place) in tids.iter().zip(&mut found) {
                let is_leader = *tid == thread.pid && place.is_none();
                if *tid == thread.tid || is_leader {
                    let mut task = thread.task;
                    (task.key.pid, task.threads) = (*tid, 1);
                    *place = Some(task);
                }
            }
        });
        for (index, task) in found.iter_mut().enumerate() {
            read(index, task.as_mut().ok_or(listed.err().unwrap_or(Absence::Gone)));
        }
    }

    /// Reads a process.
    ///
    /// # Errors
    /// Where it is gone or hidden.
    pub fn read_process(&mut self, pid: u32) -> Result<Process, Absence> {
        let living = kinfo_of(&mut self.sysctl, pid)?.task;
        Ok(Process { living, ended: None })
    }

    /// How long a process was on a CPU, with the threads that have ended: not read here.
    pub fn process_cpu(&mut self, _pid: u32) -> Option<Nanos> {
        None
    }

    /// Reads a process that ended and was not reaped.
    ///
    /// # Errors
    /// Where it was reaped after all.
    pub fn read_ended(&mut self, pid: u32) -> Result<Task, Absence> {
        kinfo_of(&mut self.sysctl, pid).map(|process| process.task)
    }

    /// Reads all processes.
    ///
    /// # Errors
    /// Where they cannot be listed.
    pub fn read_all_processes<R: AsMut<Task>>(&mut self, row: impl Fn(Task) -> R) -> Result<Vec<R>, Absence> {
        let mut rows = Vec::new();
        each(&mut self.sysctl, &ALL_PROCESSES, |process| rows.push(row(process.task)))?;
        Ok(rows)
    }

    /// A process's state, by the letter that Linux has for it.
    ///
    /// # Errors
    /// Where it is gone or hidden.
    pub fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        // SIDL to SLOCK of sys/proc.h.
        Ok(match kinfo_of(&mut self.sysctl, tid)?.state {
            ProcessState(2) => b'R',
            ProcessState(4) => b'T',
            ProcessState(5) => b'Z',
            _ => b'S',
        })
    }

    /// There are no cgroups.
    pub fn cgroup_io_wait(&mut self, _directory: &Path) -> Option<u64> {
        None
    }

    /// There is nothing to switch on.
    ///
    /// # Errors
    /// Always.
    pub fn enable_accounting(&mut self) -> Result<(), Absence> {
        Err(Absence::Unsupported)
    }
}

fn threads_of(pid: u32) -> [i32; 4] {
    [CTL_KERN, KERN_PROC, KERN_PROC_PID | INC_THREAD, pid.cast_signed()]
}

/// One process.
pub(super) fn kinfo_of(sysctl: &mut Sysctl, pid: u32) -> Result<KinfoProc, Absence> {
    let mut found = Err(Absence::Gone);
    each(sysctl, &[CTL_KERN, KERN_PROC, KERN_PROC_PID, pid.cast_signed()], |process| found = Ok(process))?;
    found
}

fn each(sysctl: &mut Sysctl, path: &[i32], mut take: impl FnMut(KinfoProc)) -> Result<(), Absence> {
    let booted = sysctl.parse("kern.boottime", boottime::parse).unwrap_or(Nanos(0));
    let now = clock_now().realtime;
    for bytes in kinfo_proc::each(sysctl.read_path(path)?) {
        take(KinfoProc::parse(bytes, booted, now).map_err(|_| Absence::Malformed)?);
    }
    Ok(())
}
