//! Processes: their threads summed.
//!
//! The delays of a process are the sums of its living threads, read one by one. Those of its ended threads are reported beside them, if the
//! aggregate of the group contains more than the threads do. The aggregate alone has no useful maxima, and cannot be checked thread by
//! thread.

use std::collections::BinaryHeap;

use facts::sample::Absence;
use facts::task::bounds::can_be_of_ended_threads;
use facts::task::figure::Figure;
use facts::task::{Cause, Delay, Delays, TaskAccount, TaskRow, TaskSum};
use facts::unit::Nanos;

use super::LinuxTasks;
use crate::clock::clock_now;
use crate::populate;
use crate::task_source::{EndedThreads, Process};

impl LinuxTasks {
    /// Reads a process: its threads summed.
    ///
    /// # Errors
    /// If the process is gone, hidden or denied. A thread that ends meanwhile is left out.
    pub(crate) fn read_process(&mut self, pid: u32) -> Result<Process, Absence> {
        let whole = self.read_group(pid);
        let whole_cpu = self.process_cpu(pid);
        let mut tids = std::mem::take(&mut self.threads);
        let listed = self.listing.threads(pid, &mut tids);
        let mut sum: Result<TaskAccount, Absence> = Err(Absence::Gone);
        let mut of_living = OfLiving::default();
        if listed.is_ok() {
            self.read_threads_of(Some(pid), &tids, |_, row| {
                row.iter().for_each(|row| of_living.add(row));
                match (&mut sum, row) {
                    (Ok(sum), Ok(row)) => sum.add_thread(&row),
                    (Ok(_), Err(_)) => {}
                    (sum, row) => *sum = row.map(|row| TaskAccount::of_thread(&row)),
                }
            });
        }
        self.threads = tids;
        listed?;
        let living = sum?;
        let delays = whole.and_then(|whole| of_living.ended_delays(&whole, living.wall, living.key.start));
        let on_cpu = EndedThreads::on_cpu_beside(whole_cpu, living.sum.on_cpu(), living.sum.threads);
        let has_ended = delays.is_some() || on_cpu.is_some();
        let ended = EndedThreads { on_cpu, delays: delays.unwrap_or_default() };
        Ok(Process { living, ended: has_ended.then_some(ended) })
    }

    /// Reads a process that ended and was not reaped: its leader, and what can still be known of its other threads.
    ///
    /// # Errors
    /// If it was reaped after all.
    pub(crate) fn read_ended(&mut self, pid: u32) -> Result<TaskAccount, Absence> {
        let whole = self.read_group(pid);
        let mut row = Err(Absence::Gone);
        self.read_threads(&[pid], |_, read| row = read);
        let row = row?;
        let mut of_living = OfLiving::default();
        of_living.add(&row);
        let mut account = TaskAccount::of_thread(&row);
        // The process's times hold those of all its threads, in ticks.
        let (user, system) = self.procfs.process_times(pid)?;
        let own = account.sum.get(Figure::CPU_TICKS).map(Nanos);
        let Some(others) = EndedThreads::on_cpu_beside(Some(user + system), own, 0) else {
            return Ok(account);
        };
        let ended = whole.and_then(|whole| of_living.ended_delays(&whole, account.wall, account.key.start));
        let sum = &mut account.sum;
        sum.set(Figure::ON_CPU, sum.on_cpu().map(|on_cpu| (on_cpu + others).0));
        sum.set(Figure::USER, Some(user.0));
        sum.set(Figure::SYSTEM, Some(system.0));
        for cause in Cause::ALL {
            // What the other threads waited for is not in /proc.
            let own = of_living.possible.delay(cause);
            let delay = ended.map_or_else(Delay::default, |ended| own.plus(ended[cause]));
            sum.set_delay(cause, delay);
        }
        Ok(account)
    }

    /// The delays of a process that ended and was not reaped, without a file of /proc, which would make reaping it dear.
    ///
    /// # Errors
    /// If it was reaped, or only netlink has them and is not permitted.
    pub(crate) fn read_ended_delays(&mut self, pid: u32) -> Result<TaskSum, Absence> {
        let accounting_on = self.accounting_on;
        let taskstats = self.taskstats.as_mut().map_err(|absence| *absence)?;
        let (row, whole) = taskstats.read_with_group(pid, accounting_on).ok_or(Absence::Gone)?;
        let mut of_living = OfLiving::default();
        of_living.add(&row);
        let mut sum = TaskAccount::of_thread(&row).sum;
        if let Some(ended) = whole.and_then(|whole| of_living.ended_delays(&whole, row.wall, row.key.start)) {
            for cause in Cause::ALL {
                sum.set_delay(cause, of_living.possible.delay(cause).plus(ended[cause]));
            }
        }
        Ok(sum)
    }

    /// A thread group's delays, the ended threads' included; `None` if only netlink has them.
    fn read_group(&mut self, tgid: u32) -> Option<TaskRow> {
        self.taskstats.as_mut().ok()?.read_group(tgid)
    }

    /// Reads all processes, each its threads summed.
    ///
    /// One request a process, which gives its leader, and then one for each further thread. To learn which processes
    /// have any costs more than a request, but how many threads there are in all is one line of /proc/loadavg: those
    /// with the most virtual memory (each thread brings a stack) are asked first, and none after the last thread is
    /// found. In a PID namespace, where that line counts the whole machine, every process is asked.
    ///
    /// `make` makes what the caller keeps of a process, so that the tasks of a machine are in memory once.
    ///
    /// # Errors
    /// If /proc cannot be listed.
    pub(crate) fn read_all_processes<R: AsMut<TaskAccount>>(
        &mut self,
        make: impl Fn(TaskAccount) -> R,
    ) -> Result<Vec<R>, Absence> {
        let all_threads = self.procfs.all_threads();
        let counted_at = clock_now().boottime;
        let mut pids = std::mem::take(&mut self.threads);
        let listed = self.listing.processes(&mut pids);
        let mut processes: Vec<R> = Vec::with_capacity(pids.len());
        populate(&mut processes);
        // Most virtual memory first. Processes that started after the count are asked in any case, and do not reduce it.
        let mut order = Vec::with_capacity(pids.len());
        let mut older = 0;
        self.read_threads(&pids, |_, row| {
            let Ok(row) = row else { return };
            let is_younger = row.key.start >= counted_at;
            older += u64::from(!is_younger);
            let peak_virtual = row.figures.get(Figure::PEAK_VIRTUAL_BYTES);
            order.push((is_younger, peak_virtual, processes.len() as u32));
            processes.push(make(TaskAccount::of_thread(&row)));
        });
        self.threads = pids;
        listed?;

        // Counted again, since threads that were started meanwhile would be found in place of others.
        let all_threads = all_threads.max(self.procfs.all_threads());
        let mut to_find = match self.taskstats {
            Ok(_) => all_threads.map_or(u64::MAX, |all| all.saturating_sub(older)),
            Err(_) => u64::MAX,
        };
        // A heap: of thousands only the first few are taken.
        let mut order = BinaryHeap::from(order);
        while let Some((is_younger, peak_virtual, index)) = order.pop() {
            if !is_younger && to_find == 0 {
                break;
            }
            let leader = processes[index as usize].as_mut();
            // Without memory of its own, and of kthreadd's family: a leader that ended before its threads has none, too.
            let is_kernel_thread = peak_virtual == Some(0) && (leader.key.pid == 2 || leader.ppid == Some(2));
            let others = if is_kernel_thread { 0 } else { self.listing.count_threads(leader.key.pid) - 1 };
            if others > 0 {
                to_find = to_find.saturating_sub(others);
                self.add_other_threads(leader);
            }
        }
        Ok(processes)
    }

    /// Adds the threads that a leader's process has beside it.
    fn add_other_threads(&mut self, leader: &mut TaskAccount) {
        let mut tids = std::mem::take(&mut self.threads);
        // A process that ended meanwhile keeps what its leader said.
        if self.listing.threads(leader.key.pid, &mut tids).is_ok() {
            tids.retain(|tid| *tid != leader.key.pid);
            self.read_threads_of(Some(leader.key.pid), &tids, |_, row| {
                row.iter().for_each(|row| leader.add_thread(row));
            });
        }
        self.threads = tids;
    }
}

/// The delays of living threads as the kernel reports them: a zero of a thread that never waited is one here.
#[derive(Default)]
struct OfLiving {
    reported: TaskSum,
    /// These delays without values that cannot be true.
    possible: TaskSum,
}

impl OfLiving {
    fn add(&mut self, row: &TaskRow) {
        self.reported.add(&TaskSum::of_thread(&row.figures, row.wall, true));
        self.possible.add(&row.sum_since_start(true));
    }

    /// Returns the delays of the group beyond those of its living threads; `wall` is how long it has lived, since `start` on the boot
    /// clock. The group was read first, so that a living thread's progress in between is never taken for an ended one's.
    fn ended_delays(&self, whole: &TaskRow, wall: Nanos, start: Nanos) -> Option<Delays> {
        let mut ended = Delays::default();
        let mut any = false;
        for cause in Cause::ALL {
            let beyond = |figure, of_living: Option<u64>| {
                let whole = whole.figures.get(figure);
                whole.zip(of_living).map(|(whole, living)| whole.saturating_sub(living))
            };
            let count = beyond(Figure::count(cause), self.reported.get(Figure::count(cause)));
            any |= count.is_some_and(|count| count > 0);
            // Of a living thread's total that cannot be true it is not known how much of the group's it is.
            let of_living = self.possible.delay(cause).total().filter(|_| self.possible.unknown(cause) == 0);
            // Below one event nothing ended: what differs is time that living threads had not yet been charged.
            let total = match count {
                Some(0) => Some(Nanos(0)),
                _ => beyond(Figure::delay(cause), of_living.map(|total| total.0)).map(Nanos),
            };
            let can_be = |total: &Nanos| {
                count.is_some_and(|count| can_be_of_ended_threads(cause, *total, count, wall, start))
            };
            ended[cause] = Delay::new(count, total.filter(can_be), None);
        }
        any.then_some(ended)
    }
}
