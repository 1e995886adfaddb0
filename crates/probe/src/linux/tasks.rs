//! Tasks: time on a CPU and time held up, by taskstats where permitted, else by /proc.

#[cfg_attr(not(feature = "bpf"), path = "tasks/no_bpf.rs")]
pub(crate) mod bpf;
pub(crate) mod listing;
pub(crate) mod procfs;
pub(crate) mod taskstats;

use std::collections::BinaryHeap;
use std::path::Path;

use facts::sample::Absence;
use facts::task::{Cause, Delay, Delays, Task};
use facts::unit::{Bytes, Nanos};

use crate::roots::{MachineDirectory, RootError, Roots};
use crate::{clock_now, populate};
use listing::Listing;
use procfs::Procfs;
use taskstats::Taskstats;

pub use crate::task_reading::{EndedThreads, Method, Process, TaskState};
pub(crate) use taskstats::{stats_attribute, taskstats_family};

/// Reads tasks.
pub struct TaskReader {
    taskstats: Result<Taskstats, Absence>,
    procfs: Procfs,
    listing: Listing,
    accounting_on: Option<bool>,
    /// Ids of the moment, kept for their memory.
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

    fn new(root: MachineDirectory, taskstats: Result<Taskstats, Absence>) -> Result<Self, RootError> {
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

    /// Reads threads one by one; a thread's answer comes with its place in `tids`. It is as the kernel gives it: a total that cannot
    /// be ([`Task::checked`]) can still be subtracted from a later one.
    pub fn read_threads(&mut self, tids: &[u32], each: impl FnMut(usize, Result<&mut Task, Absence>)) {
        self.read_threads_of(None, tids, each);
    }

    fn read_threads_of(
        &mut self,
        pid: Option<u32>,
        tids: &[u32],
        mut each: impl FnMut(usize, Result<&mut Task, Absence>),
    ) {
        match &mut self.taskstats {
            Ok(taskstats) => taskstats.read(tids, self.accounting_on, &mut each),
            Err(_) => {
                for (index, tid) in tids.iter().enumerate() {
                    let mut task = self.procfs.read_thread(pid, *tid, self.accounting_on);
                    each(index, task.as_mut().map_err(|absence| *absence));
                }
            }
        }
    }

    /// Reads a process: its threads summed.
    ///
    /// # Errors
    /// Where the process is gone, hidden or denied. A thread that ends meanwhile is left out.
    pub fn read_process(&mut self, pid: u32) -> Result<Process, Absence> {
        let whole = self.read_group(pid);
        let whole_cpu = self.process_cpu(pid);
        let mut tids = std::mem::take(&mut self.threads);
        let listed = self.listing.threads(pid, &mut tids);
        let mut sum: Result<Task, Absence> = Err(Absence::Gone);
        if listed.is_ok() {
            self.read_threads_of(Some(pid), &tids, |_, task| match (&mut sum, task) {
                (Ok(sum), Ok(thread)) => sum.add(&thread.checked()),
                (Ok(_), Err(_)) => {}
                (sum, task) => *sum = task.map(|task| task.checked()),
            });
        }
        self.threads = tids;
        listed?;
        let living = sum?;
        let delays = whole.and_then(|whole| ended_delays(&whole, &living));
        let on_cpu = EndedThreads::on_cpu_beside(whole_cpu, living.on_cpu, living.threads);
        let has_ended = delays.is_some() || on_cpu.is_some();
        let ended = EndedThreads { on_cpu, delays: delays.unwrap_or_default() };
        Ok(Process { living, ended: has_ended.then_some(ended) })
    }

    /// How long a process was on a CPU, with the threads that have ended; none where it is gone.
    pub fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        self.procfs.process_cpu(pid)
    }

    /// Reads a process that ended and was not reaped: its leader, and what can still be known of its other threads.
    ///
    /// # Errors
    /// Where it was reaped after all.
    pub fn read_ended(&mut self, pid: u32) -> Result<Task, Absence> {
        let whole = self.read_group(pid);
        let mut task = Err(Absence::Gone);
        self.read_threads(&[pid], |_, read| task = read.map(|task| task.checked()));
        let mut task: Task = task?;
        // The process's times hold those of all its threads, in ticks.
        let (user, system) = self.procfs.process_times(pid)?;
        let others = EndedThreads::on_cpu_beside(Some(user + system), task.cpu_real, 0);
        if let Some(others) = others {
            task.on_cpu = task.on_cpu.map(|on_cpu| on_cpu + others);
            (task.user, task.system) = (Some(user), Some(system));
            let ended = whole.and_then(|whole| ended_delays(&whole, &task));
            for cause in Cause::ALL {
                // What the other threads waited for is not in /proc.
                let own = task.delays[cause];
                task.delays[cause] = ended.map_or_else(Delay::default, |ended| own.plus(ended[cause]));
            }
        }
        Ok(task)
    }

    /// A thread group's delays, the ended threads' included; none where only netlink has them.
    fn read_group(&mut self, tgid: u32) -> Option<Task> {
        self.taskstats.as_mut().ok()?.read_group(tgid)
    }

    /// Reads all processes, each its threads summed.
    ///
    /// One request a process, which gives its leader, and then one for each further thread. To learn which processes
    /// have any costs more than a request, but how many threads there are in all is one line of /proc/loadavg: those
    /// with the most virtual memory (each thread brings a stack) are asked first, and none after the last thread is
    /// found. In a PID namespace, where that line counts the whole machine, every process is asked.
    ///
    /// `row` makes what the caller keeps of a task, so that the tasks of a machine are in memory once.
    ///
    /// # Errors
    /// Where /proc cannot be listed.
    pub fn read_all_processes<R: AsMut<Task>>(&mut self, row: impl Fn(Task) -> R) -> Result<Vec<R>, Absence> {
        let all_threads = self.procfs.all_threads();
        let counted_at = clock_now().monotonic;
        let mut pids = std::mem::take(&mut self.threads);
        let listed = self.listing.processes(&mut pids);
        let mut rows: Vec<R> = Vec::with_capacity(pids.len());
        populate(&mut rows);
        // Most virtual memory first, but whoever began after the count is asked in any case and takes nothing off it.
        let mut order = Vec::with_capacity(pids.len());
        let mut older = 0;
        self.read_threads(&pids, |_, task| {
            let Ok(task) = task else { return };
            task.drop_impossible();
            let is_younger = task.key.start >= counted_at;
            older += u64::from(!is_younger);
            order.push((is_younger, task.peak_virtual, rows.len() as u32));
            rows.push(row(*task));
        });
        self.threads = pids;
        listed?;

        // Counted again, lest threads that came meanwhile are found in place of others.
        let all_threads = all_threads.max(self.procfs.all_threads());
        let mut to_find = match self.method() {
            Method::Taskstats { .. } => all_threads.map_or(u64::MAX, |all| all.saturating_sub(older)),
            Method::Procfs { .. } | Method::Sysctl => u64::MAX,
        };
        // A heap: of thousands only the first few are taken.
        let mut order = BinaryHeap::from(order);
        while let Some((is_younger, peak_virtual, index)) = order.pop() {
            if !is_younger && to_find == 0 {
                break;
            }
            let leader = rows[index as usize].as_mut();
            // Without memory of its own, and of kthreadd's family: a leader that ended before its threads has none, too.
            let is_kernel_thread =
                peak_virtual == Some(Bytes(0)) && (leader.key.pid == 2 || leader.ppid == Some(2));
            let others = if is_kernel_thread { 0 } else { self.listing.count_threads(leader.key.pid) - 1 };
            if others > 0 {
                to_find = to_find.saturating_sub(others);
                self.add_other_threads(leader);
            }
        }
        Ok(rows)
    }

    /// Adds the threads that a leader's process has beside it.
    fn add_other_threads(&mut self, leader: &mut Task) {
        let mut tids = std::mem::take(&mut self.threads);
        // A process that ended meanwhile keeps what its leader said.
        if self.listing.threads(leader.key.pid, &mut tids).is_ok() {
            tids.retain(|tid| *tid != leader.key.pid);
            self.read_threads_of(Some(leader.key.pid), &tids, |_, thread| {
                if let Ok(thread) = thread {
                    leader.add(&thread.checked());
                }
            });
        }
        self.threads = tids;
    }

    /// A thread's state.
    ///
    /// # Errors
    /// Where it is gone or hidden.
    pub fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        self.procfs.state(tid)
    }

    /// How many tasks of a v1 cgroup wait for I/O, by CGROUPSTATS; none for v2, which has no such call.
    pub fn cgroup_io_wait(&mut self, directory: &Path) -> Option<u64> {
        self.taskstats.as_mut().ok()?.cgroup_io_wait(directory)
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
        let (whole, of_living) = (whole.delays[cause], living.delays[cause]);
        let count = whole.count().zip(of_living.count()).map(|(whole, living)| whole.saturating_sub(living));
        any |= count.is_some_and(|count| count > 0);
        // Below one event nothing ended: what differs is time that living threads had not yet been charged.
        let total = match count {
            Some(0) => Some(Nanos(0)),
            _ => whole.total().zip(of_living.total()).map(|(whole, living)| whole.saturating_sub(living)),
        };
        // No thread can have waited longer each time than its process has lived.
        let at_most = count.map(|count| Nanos(living.wall.0.saturating_mul(count)));
        ended[cause] = Delay::new(count, total.filter(|total| Some(*total) <= at_most), None);
    }
    any.then_some(ended)
}
