//! Tasks: time on a CPU and time held up, by taskstats where permitted, else by /proc.

mod listing;
mod procfs;
mod taskstats;

use facts::sample::Absence;
use facts::task::{Cause, Delays, Task};
use facts::unit::Nanos;
use rustix::io::Errno;

use super::files::absence;
use crate::roots::{RootDirectory, RootError, Roots};
use listing::Listing;
use procfs::Procfs;
use taskstats::Taskstats;

pub use procfs::TaskState;
pub(crate) use taskstats::stats_attribute;

/// How tasks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Over netlink, in batches: all eight causes.
    Taskstats {
        /// The struct's version.
        version: u16,
        /// Its bytes.
        length: usize,
    },
    /// From /proc/PID/{stat,schedstat,status}: run queue, and block I/O in ticks.
    Procfs {
        /// Why not over netlink.
        reason: Absence,
    },
}

/// A process: its living threads summed, and what its ended ones left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// Living threads.
    pub living: Task,
    /// Delays of threads that ended; none where none did, or the method does not say.
    pub ended: Option<Delays>,
}

/// Reads tasks.
pub struct TaskReader {
    taskstats: Result<Taskstats, Absence>,
    procfs: Procfs,
    listing: Listing,
    accounting_on: Option<bool>,
    threads: Vec<u32>,
}

impl TaskReader {
    /// Opens the best way that is permitted.
    ///
    /// # Errors
    /// Where the root cannot be opened.
    pub fn open(roots: &Roots) -> Result<Self, RootError> {
        let taskstats = if roots.is_captured() { Err(Absence::Unsupported) } else { Taskstats::open() };
        Self::new(roots.open()?, taskstats)
    }

    /// Opens /proc alone, as for a user without privileges.
    ///
    /// # Errors
    /// Where the root cannot be opened.
    pub fn open_procfs(roots: &Roots) -> Result<Self, RootError> {
        Self::new(roots.open()?, Err(Absence::NotWanted))
    }

    fn new(root: RootDirectory, taskstats: Result<Taskstats, Absence>) -> Result<Self, RootError> {
        let mut procfs = Procfs::open(root);
        let accounting_on = procfs.accounting_switch();
        let listing = Listing::open(procfs.root());
        Ok(Self { taskstats, procfs, listing, accounting_on, threads: Vec::new() })
    }

    /// The way that is taken.
    pub fn method(&self) -> Method {
        match &self.taskstats {
            Ok(taskstats) => Method::Taskstats { version: taskstats.version, length: taskstats.length },
            Err(reason) => Method::Procfs { reason: *reason },
        }
    }

    /// What `kernel.task_delayacct` says; none where the kernel has no such switch (before 5.14: on unless booted
    /// with `nodelayacct`).
    pub fn accounting_on(&self) -> Option<bool> {
        self.accounting_on
    }

    /// The pids of all processes.
    ///
    /// # Errors
    /// Where /proc cannot be listed.
    pub fn processes(&mut self, pids: &mut Vec<u32>) -> Result<(), Absence> {
        self.listing.processes(pids)
    }

    /// The tids of a process's threads, its leader first.
    ///
    /// # Errors
    /// Where the process is gone or hidden.
    pub fn threads(&mut self, pid: u32, tids: &mut Vec<u32>) -> Result<(), Absence> {
        self.listing.threads(pid, tids)
    }

    /// Reads threads one by one; a thread's answer comes with its place in `tids`.
    pub fn read_threads(&mut self, tids: &[u32], mut each: impl FnMut(usize, Result<Task, Absence>)) {
        let mut sane = |index, task: Result<Task, Absence>| {
            each(
                index,
                task.map(|mut task| {
                    task.drop_impossible();
                    task
                }),
            );
        };
        match &mut self.taskstats {
            Ok(taskstats) => taskstats.read(tids, self.accounting_on, &mut sane),
            Err(_) => {
                for (index, tid) in tids.iter().enumerate() {
                    sane(index, self.procfs.read_thread(*tid, self.accounting_on));
                }
            }
        }
    }

    /// Reads a process: its threads summed.
    ///
    /// # Errors
    /// Where the process is gone, hidden or denied. A thread that ends meanwhile is left out.
    pub fn read_process(&mut self, pid: u32) -> Result<Process, Absence> {
        let whole = match &mut self.taskstats {
            Ok(taskstats) => taskstats.read_group(pid),
            Err(_) => None,
        };
        let mut tids = std::mem::take(&mut self.threads);
        let listed = self.listing.threads(pid, &mut tids);
        let mut sum: Result<Task, Absence> = Err(Absence::Gone);
        if listed.is_ok() {
            self.read_threads(&tids, |_, task| match (&mut sum, task) {
                (Ok(sum), Ok(thread)) => sum.add(&thread),
                (Ok(_), Err(_)) => {}
                (sum, task) => *sum = task,
            });
        }
        self.threads = tids;
        listed?;
        let living = sum?;
        Ok(Process { living, ended: whole.and_then(|whole| ended_delays(&whole, &living)) })
    }

    /// Reads processes, each its threads summed, with the fewest calls: most have one thread, and of those that have
    /// more only the others are asked for again.
    pub fn read_processes(&mut self, pids: &[u32], mut each: impl FnMut(usize, Result<Task, Absence>)) {
        let mut leaders = Vec::with_capacity(pids.len());
        self.read_threads(pids, |index, task| leaders.push((index, task)));
        let mut tids = std::mem::take(&mut self.threads);
        for (index, leader) in leaders {
            let Ok(mut sum) = leader else {
                each(index, leader);
                continue;
            };
            let pid = pids[index];
            if self.listing.has_threads(pid) && self.listing.threads(pid, &mut tids).is_ok() {
                tids.retain(|tid| *tid != pid);
                self.read_threads(&tids, |_, thread| {
                    if let Ok(thread) = thread {
                        sum.add(&thread);
                    }
                });
            }
            each(index, Ok(sum));
        }
        self.threads = tids;
    }

    /// A thread's state letter, and whether it waits for block I/O as far as /proc says.
    ///
    /// # Errors
    /// Where it is gone or hidden.
    pub fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        self.procfs.state(tid)
    }

    /// How many tasks of a v1 cgroup are in which state, by CGROUPSTATS; none for v2, which has no such call.
    pub fn cgroup_states(&mut self, directory: &std::path::Path) -> Option<[u64; 5]> {
        self.taskstats.as_mut().ok()?.cgroup_states(directory)
    }

    /// Switches delay accounting on for tasks made from now on.
    ///
    /// # Errors
    /// Where the kernel has no such switch or this user may not set it.
    pub fn enable_accounting(&mut self) -> Result<(), Absence> {
        self.procfs.enable_accounting()?;
        self.accounting_on = Some(true);
        Ok(())
    }
}

/// What the group has beyond its living threads. The group was read first, so that a living thread's progress in
/// between is never taken for an ended one's.
fn ended_delays(whole: &Task, living: &Task) -> Option<Delays> {
    let mut ended = Delays::default();
    let mut any = false;
    for cause in Cause::ALL {
        let (whole, living) = (whole.delays[cause], living.delays[cause]);
        let count = whole.count.zip(living.count).map(|(whole, living)| whole.saturating_sub(living));
        any |= count.is_some_and(|count| count > 0);
        ended[cause].count = count;
        // Below one event nothing ended: what differs is time that living threads had not yet been charged.
        ended[cause].total = match count {
            Some(0) => Some(Nanos(0)),
            _ => whole.total.zip(living.total).map(|(whole, living)| whole.saturating_sub(living)),
        };
    }
    any.then_some(ended)
}

/// What netlink's or /proc's error says about a task.
pub(crate) fn task_absence(error: Errno) -> Absence {
    match error {
        Errno::SRCH | Errno::NOENT => Absence::Gone,
        error => absence(error),
    }
}
