//! All tasks of the machine in one table, by the best way that is permitted, and what ended since.

mod left_out;
mod resident;
mod starts;
mod thread_list;

use facts::rate::tasks::Ended;
use facts::sample::Absence;
use facts::task::figure::Figure;
use facts::task::table::TaskTable;
use facts::unit::Nanos;

use super::exits::ExitRecords;
use super::privilege;
use super::tasks::bpf::BpfTasks;
use super::tasks::listing::Listing;
use super::tasks::procfs::Procfs;
use super::tasks::taskstats::Taskstats;
use crate::clock_now;
use crate::roots::{RootError, Roots};
pub use crate::task_reading::{Refused, Way};
use left_out::LeftOut;
use resident::Resident;
use starts::Starts;
use thread_list::ThreadList;

/// linux/capability.h.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Reads all tasks, again and again.
pub struct TaskTableReader {
    way: OpenWay,
    refused: Vec<(Way, Refused)>,
    taskstats: Result<Taskstats, Absence>,
    procfs: Procfs,
    listing: Listing,
    accounting_on: Option<bool>,
    exits: Result<ExitRecords, Absence>,
    /// When exit records were last read, on the boot clock: what is read next ended later.
    exits_read: Nanos,
}

enum OpenWay {
    Bpf(Box<BpfTasks>, LeftOut),
    Taskstats { threads: ThreadList, starts: Starts, resident: Resident },
    Procfs { pids: Vec<u32>, tids: Vec<u32> },
}

impl TaskTableReader {
    /// Opens the best way, or the one that is asked for.
    ///
    /// # Errors
    /// Where the root cannot be opened, or the way that is asked for is not to be had.
    pub fn open(roots: &Roots, only: Option<Way>) -> Result<Self, OpenError> {
        let root = roots.open()?;
        let mut procfs = Procfs::open(root);
        let listing = Listing::open(procfs.root());
        let accounting_on = procfs.accounting_switch();
        // Whoever asks for /proc alone means to see what others see.
        let is_proc_alone = roots.is_captured() || only == Some(Way::Procfs);
        let absence = if roots.is_captured() { Absence::Unsupported } else { Absence::NotWanted };
        let taskstats = if is_proc_alone { Err(absence) } else { Taskstats::open() };
        let exits = if is_proc_alone { Err(absence) } else { ExitRecords::open(accounting_on) };
        let mut refused = Vec::new();
        let mut way = None;
        for candidate in Way::ALL.into_iter().filter(|way| only.is_none_or(|only| only == *way)) {
            let opened = match candidate {
                Way::Bpf => open_bpf(roots).map(|tasks| OpenWay::Bpf(Box::new(tasks), LeftOut::default())),
                Way::Taskstats => match &taskstats {
                    Ok(_) => Ok(OpenWay::Taskstats {
                        threads: ThreadList::open(),
                        starts: Starts::default(),
                        resident: Resident::default(),
                    }),
                    Err(absence) => Err((*absence).into()),
                },
                Way::Procfs => Ok(OpenWay::Procfs { pids: Vec::new(), tids: Vec::new() }),
            };
            match opened {
                Ok(opened) => {
                    way = Some(opened);
                    break;
                }
                Err(reason) => refused.push((candidate, reason)),
            }
        }
        let Some(way) = way else {
            let (way, reason) = refused.remove(0);
            return Err(OpenError::Refused(way, reason));
        };
        let exits_read = clock_now().boottime;
        Ok(Self { way, refused, taskstats, procfs, listing, accounting_on, exits, exits_read })
    }

    /// The way that is taken.
    pub fn way(&self) -> Way {
        match &self.way {
            OpenWay::Bpf(..) => Way::Bpf,
            OpenWay::Taskstats { .. } => Way::Taskstats,
            OpenWay::Procfs { .. } => Way::Procfs,
        }
    }

    /// Better ways, and why they are not open.
    pub fn refused(&self) -> &[(Way, Refused)] {
        &self.refused
    }

    /// What `kernel.task_delayacct` says; none where the kernel has no such switch.
    pub fn accounting_on(&self) -> Option<bool> {
        self.accounting_on
    }

    /// Reads all tasks into the memory of an older table. `before` is the table of the reading before this one: from it are
    /// taken over, where the way can tell, the tasks that did not run since. What somebody else changed of these (niceness,
    /// parent, cgroup, memory that was reclaimed) is known at most eight readings later, or after [`Self::forget`].
    ///
    /// # Errors
    /// Where tasks cannot be listed at all; one that went is left out.
    pub fn read(&mut self, before: &TaskTable, table: &mut TaskTable) -> Result<(), Absence> {
        table.clear();
        table.clock = self.procfs.clock();
        match &mut self.way {
            OpenWay::Bpf(tasks, left_out) => {
                tasks.read(before, table)?;
                left_out.find(table, &mut self.procfs, &self.listing);
                let tids = left_out.tids();
                match &mut self.taskstats {
                    Ok(taskstats) => {
                        let first = table.len();
                        push_taskstats(taskstats, tids, self.accounting_on, table);
                        // A few: what taskstats does not say of them would be lacking in every sum that they are in.
                        for index in first..table.len() {
                            read_state(table, index, &mut self.procfs);
                            set_memory(table, index, self.procfs.memory(table.pid(index)).ok());
                        }
                    }
                    Err(_) => push_procfs(&mut self.procfs, None, tids, self.accounting_on, table),
                }
                Ok(())
            }
            OpenWay::Taskstats { threads, starts, resident } => {
                let tids = threads.refresh(&self.listing)?;
                if let Ok(taskstats) = &mut self.taskstats {
                    let gone = push_taskstats(taskstats, tids, self.accounting_on, table);
                    threads.forget(&gone);
                }
                starts.fill(table, &mut self.procfs);
                resident.fill(table, &mut self.procfs);
                Ok(())
            }
            OpenWay::Procfs { pids, tids } => {
                self.listing.processes(pids)?;
                for pid in pids {
                    // Who is gone is left out.
                    if self.listing.threads(*pid, tids).is_ok() {
                        // First: what a thread does meanwhile is counted the next time.
                        let whole = self.procfs.process_cpu(*pid);
                        table.process_cpu.extend(whole.map(|whole| (*pid, whole)));
                        push_procfs(&mut self.procfs, Some(*pid), tids, self.accounting_on, table);
                    }
                }
                Ok(())
            }
        }
    }

    /// Lets the next reading take nothing over.
    pub fn forget(&mut self) {
        if let OpenWay::Bpf(tasks, _) = &mut self.way {
            tasks.forget();
        }
    }

    /// Reads the iterator to its end and keeps nothing: what reading costs at least. The bytes there were.
    ///
    /// # Errors
    /// Where there is no iterator.
    pub fn read_bare(&mut self) -> Result<usize, Absence> {
        match &mut self.way {
            OpenWay::Bpf(tasks, _) => tasks.read_bare(),
            OpenWay::Taskstats { .. } | OpenWay::Procfs { .. } => Err(Absence::Unsupported),
        }
    }

    /// Reads what only /proc says of these rows, which are on a screen: their state, unless it is known, and their memory to the
    /// page.
    pub fn complete(&mut self, table: &mut TaskTable, rows: impl IntoIterator<Item = usize>) {
        let living = table.len();
        for index in rows.into_iter().filter(|index| *index < living) {
            if matches!(self.way, OpenWay::Taskstats { .. }) || table.state(index).is_none() {
                read_state(table, index, &mut self.procfs);
            }
            // The others' is exact, and a kernel thread has none.
            let has_memory = table.get(index, Figure::VIRTUAL_BYTES).is_none_or(|bytes| bytes > 0);
            if matches!(self.way, OpenWay::Bpf(..))
                && has_memory
                && let Ok(memory) = self.procfs.memory(table.pid(index))
            {
                set_memory(table, index, Some(memory));
            }
        }
    }

    /// How long a process was on a CPU with all threads that it ever had, in ticks; none where it is gone or hidden.
    pub fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        self.procfs.process_cpu(pid)
    }

    /// Takes what ended since the last call.
    ///
    /// # Errors
    /// Why exits are not told.
    pub fn receive_ended(&mut self, ended: &mut Vec<Ended>) -> Result<(), Absence> {
        let exits = self.exits.as_mut().map_err(|absence| *absence)?;
        let since = std::mem::replace(&mut self.exits_read, clock_now().boottime);
        let tick = exits.tick();
        exits.receive(|stats| {
            let (wall, until) = (stats.task.wall, clock_now().boottime);
            let mut row = stats.row();
            row.key.start = until.saturating_sub(wall);
            // It has none any more.
            row.figures.set(Figure::RESIDENT_BYTES, Some(0));
            row.figures.set(Figure::VIRTUAL_BYTES, Some(0));
            ended.push(Ended { row, wall, between: (since, until), tick });
        })
    }

    /// Why exits are not told; none where they are.
    pub fn exits_absence(&self) -> Option<Absence> {
        self.exits.as_ref().err().copied()
    }

    /// Exits that the kernel could not tell, so far.
    pub fn lost_exits(&self) -> u64 {
        self.exits.as_ref().map_or(0, ExitRecords::lost)
    }
}

/// Reads a row's state and start from /proc.
fn read_state(table: &mut TaskTable, index: usize, procfs: &mut Procfs) {
    if let Ok(stat) = procfs.stat(table.pid(index)) {
        table.set_state(index, stat.state);
        table.set_start(index, procfs.start(&stat));
    }
}

fn set_memory(table: &mut TaskTable, index: usize, memory: Option<(u64, u64)>) {
    let (resident, virtual_bytes) = memory.unzip();
    table.set(index, Figure::RESIDENT_BYTES, resident);
    table.set(index, Figure::VIRTUAL_BYTES, virtual_bytes);
}

/// Why no way is open.
#[derive(Debug)]
pub enum OpenError {
    /// The root.
    Root(RootError),
    /// The way that was asked for.
    Refused(Way, Refused),
}

impl From<RootError> for OpenError {
    fn from(error: RootError) -> Self {
        Self::Root(error)
    }
}

/// Loading takes long enough that whoever is not permitted should not begin.
fn open_bpf(roots: &Roots) -> Result<BpfTasks, Refused> {
    if roots.is_captured() {
        return Err(Absence::Unsupported.into());
    }
    if !(privilege::has(1 << CAP_SYS_ADMIN) || privilege::has(1 << CAP_BPF | 1 << CAP_PERFMON)) {
        return Err(Absence::Denied.into());
    }
    BpfTasks::open()
}

/// Returns which of the threads are gone.
fn push_taskstats(
    taskstats: &mut Taskstats,
    tids: &[u32],
    accounting_on: Option<bool>,
    table: &mut TaskTable,
) -> Vec<u32> {
    let mut gone = Vec::new();
    let clock = clock_now();
    // The struct says how long ago a task began on the clock that stands still in a suspend.
    let suspended = clock.boottime.saturating_sub(clock.monotonic);
    taskstats.read_stats(tids, accounting_on, &mut |place, stats| match stats {
        Ok(stats) => {
            let mut row = stats.row();
            row.key.start += suspended;
            table.push(&row);
        }
        Err(Absence::Gone) => gone.push(tids[place]),
        Err(_) => {}
    });
    gone
}

/// Threads of one process, or of any.
fn push_procfs(
    procfs: &mut Procfs,
    pid: Option<u32>,
    tids: &[u32],
    accounting_on: Option<bool>,
    table: &mut TaskTable,
) {
    for tid in tids {
        if let Ok(row) = procfs.read_row(pid, *tid, accounting_on) {
            table.push(&row);
        }
    }
}
