//! Tasks from /proc/PID/{stat,schedstat,status}: what anyone may read.

use facts::linux::loadavg::LoadAverage;
use facts::linux::pid_io::{PidIo, PidIoField};
use facts::linux::pid_schedstat::PidSchedstat;
use facts::linux::pid_stat::PidStat;
use facts::linux::pid_statm::PidStatm;
use facts::linux::pid_status::PidStatus;
use facts::linux::uptime::Uptime;
use facts::sample::{Absence, Clock};
use facts::task::comm::Comm;
use facts::task::figure::{Figure, FigureSet};
use facts::task::{Accounting, Cause, TaskKey, TaskRow};
use facts::unit::{Bytes, Nanos};
use rustix::fs::{Access, AtFlags, Mode, OFlags, accessat, openat};
use rustix::io::write;

use crate::clock::clock_now;
use crate::linux::files::task_absence;
use crate::linux::files::{Buffer, absence};
use crate::roots::MachineDirectory;
use crate::sys::system_constant;
use crate::task_source::BetterRows;
use crate::task_source::TaskState;

const SWITCH: &str = "proc/sys/kernel/task_delayacct";

/// Reads from /proc below a root.
pub(crate) struct Procfs {
    root: MachineDirectory,
    buffer: Buffer,
    ticks_per_second: u64,
    page_bytes: u64,
    /// Rows that contain more.
    pub(super) better_rows: Option<Box<dyn BetterRows>>,
}

impl Procfs {
    pub(crate) fn open(root: MachineDirectory) -> Self {
        Self {
            root,
            buffer: Buffer::new(),
            ticks_per_second: system_constant(libc::_SC_CLK_TCK).unwrap_or(100),
            page_bytes: system_constant(libc::_SC_PAGESIZE).unwrap_or(4096),
            better_rows: None,
        }
    }

    pub(crate) fn root(&self) -> &MachineDirectory {
        &self.root
    }

    pub(crate) fn accounting_switch(&mut self) -> Option<bool> {
        let bytes = self.buffer.read_once(&self.root, SWITCH).ok()?;
        Some(bytes.trim_ascii() != b"0")
    }

    pub(super) fn swapped(&mut self, pid: u32) -> Option<Bytes> {
        self.read(&format!("proc/{pid}/status"), PidStatus::parse).ok()?.swapped
    }

    pub(super) fn may_enable_accounting(&self) -> bool {
        accessat(&self.root, SWITCH, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    pub(super) fn enable_accounting(&mut self) -> Result<(), Absence> {
        let file =
            openat(&self.root, SWITCH, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).map_err(absence)?;
        write(file, b"1\n").map(drop).map_err(absence)
    }

    /// Time since boot: the clock's, or a captured machine's.
    fn since_boot(&mut self) -> Nanos {
        if !self.root.is_captured() {
            return clock_now().boottime;
        }
        let mut uptime = Uptime::default();
        if let Ok(bytes) = self.buffer.read_once(&self.root, "proc/uptime") {
            // What a captured machine does not say is its boot.
            let _ = uptime.parse(bytes);
        }
        uptime.uptime
    }

    fn read<T: Default>(
        &mut self,
        path: &str,
        parse: impl FnOnce(&mut T, &[u8]) -> Result<(), facts::cursor::Malformed>,
    ) -> Result<T, Absence> {
        let bytes = self.buffer.read_once(&self.root, path).map_err(task_absence)?;
        let mut value = T::default();
        parse(&mut value, bytes).map_err(|_| Absence::Malformed)?;
        Ok(value)
    }

    /// How many threads the machine has, as /proc/loadavg says; `None` if it cannot be read.
    pub(crate) fn all_threads(&mut self) -> Option<u64> {
        self.read("proc/loadavg", LoadAverage::parse).ok().map(|load| load.tasks)
    }

    /// User and system time of a process, its ended threads' included.
    pub(super) fn process_times(&mut self, pid: u32) -> Result<(Nanos, Nanos), Absence> {
        let stat: PidStat = self.read(&format!("proc/{pid}/stat"), PidStat::parse)?;
        Ok(self.user_and_system(&stat))
    }

    /// The sum of both; `None` if the process is gone or hidden. Better rows are of an earlier time, so that what they lack of it would
    /// not be that of ended threads.
    pub(crate) fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        if self.better_rows.as_ref().is_some_and(|rows| rows.contains(pid)) {
            return None;
        }
        self.process_times(pid).ok().map(|(user, system)| user + system)
    }

    fn user_and_system(&self, stat: &PidStat) -> (Nanos, Nanos) {
        (stat.user.to_nanos(self.ticks_per_second), stat.system.to_nanos(self.ticks_per_second))
    }

    pub(super) fn state(&mut self, tid: u32) -> Result<TaskState, Absence> {
        Ok(self.stat(tid)?.state)
    }

    /// /proc/TID/task/TID/stat: a thread's own. For /proc/TID/stat the kernel adds up all threads of the process, so that asking
    /// for each of them costs the square of their number.
    pub(crate) fn stat(&mut self, tid: u32) -> Result<PidStat, Absence> {
        self.read(&format!("proc/{tid}/task/{tid}/stat"), PidStat::parse)
    }

    /// Bytes in memory and bytes of address space of a process.
    pub(crate) fn memory(&mut self, pid: u32) -> Result<(u64, u64), Absence> {
        let statm: PidStatm = self.read(&format!("proc/{pid}/statm"), PidStatm::parse)?;
        Ok((self.pages_to_bytes(statm.resident_pages), self.pages_to_bytes(statm.virtual_pages)))
    }

    /// When a task began, on the clock that goes on in a suspend.
    pub(crate) fn start(&self, stat: &PidStat) -> Nanos {
        stat.start.to_nanos(self.ticks_per_second)
    }

    /// The time, or that of a captured machine's boot.
    pub(crate) fn clock(&mut self) -> Clock {
        if !self.root.is_captured() {
            return clock_now();
        }
        let since_boot = self.since_boot();
        Clock { monotonic: since_boot, boottime: since_boot, realtime: Nanos(0) }
    }

    pub(crate) fn pages_to_bytes(&self, pages: u64) -> u64 {
        pages.saturating_mul(self.page_bytes)
    }

    /// Reads a thread of the process `pid`, or by its own id if that is not known. Both open the same directory on a live machine; a
    /// captured one has it below the process alone. Memory and I/O are read if they are among `extra`.
    pub(crate) fn read_row(
        &mut self,
        pid: Option<u32>,
        tid: u32,
        accounting_on: Option<bool>,
        extra: FigureSet,
    ) -> Result<TaskRow, Absence> {
        // What is below "task" is the thread's own; /proc/PID/stat sums the times of the whole process.
        let directory = format!("proc/{}/task/{tid}", pid.unwrap_or(tid));
        let stat: PidStat = self.read(&format!("{directory}/stat"), PidStat::parse)?;
        let status: PidStatus = self.read(&format!("{directory}/status"), PidStatus::parse)?;
        let schedstat: Option<PidSchedstat> =
            self.read(&format!("{directory}/schedstat"), PidSchedstat::parse).ok();
        let start = self.start(&stat);
        let better = self.better_rows.as_mut().and_then(|rows| rows.row(TaskKey { pid: tid, start }));
        if let Some(better) = better {
            // The state is that of now.
            return Ok(TaskRow { state: Some(stat.state), ..better });
        }
        let (user, system) = self.user_and_system(&stat);
        let block_io = stat.blkio_delay.map(|ticks| ticks.to_nanos(self.ticks_per_second));
        let mut row = TaskRow {
            key: TaskKey { pid: tid, start },
            tgid: status.tgid,
            ppid: Some(stat.ppid),
            uid: status.uid,
            comm: Comm::new(stat.comm.as_bytes()),
            state: Some(stat.state),
            nice: stat.nice,
            policy: stat.policy,
            accounting: match (block_io, accounting_on) {
                (_, Some(false)) => Accounting::Off,
                (Some(Nanos(1..)), _) => Accounting::On,
                _ => Accounting::Unsure,
            },
            wall: self.since_boot().saturating_sub(start),
            ..TaskRow::NONE
        };
        let figures = [
            (Figure::ON_CPU, Some(schedstat.map_or(user + system, |schedstat| schedstat.on_cpu).0)),
            (Figure::CPU_TICKS, Some((user + system).0)),
            (Figure::USER, Some(user.0)),
            (Figure::SYSTEM, Some(system.0)),
            (Figure::count(Cause::RunQueue), schedstat.map(|schedstat| schedstat.timeslices)),
            (Figure::delay(Cause::RunQueue), schedstat.map(|schedstat| schedstat.run_queue.0)),
            (Figure::delay(Cause::BlockIo), block_io.map(|block_io| block_io.0)),
            (Figure::VOLUNTARY_SWITCHES, status.voluntary_switches),
            (Figure::INVOLUNTARY_SWITCHES, status.involuntary_switches),
            (Figure::MINOR_FAULTS, Some(stat.minor_faults)),
            (Figure::MAJOR_FAULTS, Some(stat.major_faults)),
        ];
        for (figure, value) in figures {
            row.figures.set(figure, value);
        }
        if extra.contains(Figure::RESIDENT_BYTES) {
            // A captured machine may lack it.
            let less = (self.pages_to_bytes(stat.resident_pages), stat.virtual_bytes);
            row.set_memory(Some(self.memory(tid).unwrap_or(less)));
        }
        // The owner's alone to read.
        if extra.contains(Figure::READ_BYTES)
            && let Ok(io) = self.read(&format!("{directory}/io"), PidIo::parse)
        {
            row.figures.set(Figure::READ_BYTES, io.get(PidIoField::ReadBytes));
            row.figures.set(Figure::WRITTEN_BYTES, io.get(PidIoField::WriteBytes));
        }
        Ok(row)
    }
}
