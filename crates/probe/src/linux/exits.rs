//! Exit records: the kernel's account of each task at the moment it ends, from all CPUs.
//!
//! They need the initial user, PID and network namespaces; elsewhere registering may succeed and nothing arrives.

use facts::linux::taskstats as layout;
use facts::sample::Absence;
use facts::task::Accounting;
use facts::task::exit_record::ExitRecord;
use facts::unit::Nanos;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_getres};

use super::files::Buffer;
use super::files::task_absence;
use super::netlink::GenericSocket;
use super::tasks::{stats_attribute, taskstats_family};
use crate::clock::clock_now;
use crate::roots::Roots;
use crate::sys::{dropped_messages, system_constant};

/// Room for some 26 000 records (measured on 6.18) while whit is busy elsewhere.
const RECEIVE_BUFFER_BYTES: usize = 16 * 1024 * 1024;
/// For each record the kernel takes at least so much of that room.
const MIN_RECORD_BYTES: usize = 512;
/// The size to which it grows if that did not suffice.
const WIDEST_BUFFER_BYTES: usize = 128 * 1024 * 1024;

/// A socket that is registered on every possible CPU.
pub struct ExitRecords {
    socket: GenericSocket,
    receive_buffer_bytes: usize,
    lost: u64,
    /// When it was opened and when it was last read, on the boot clock.
    opened: Nanos,
    read: Nanos,
    accounting_on: Option<bool>,
    tick: Nanos,
}

impl ExitRecords {
    /// Registers. `accounting_on` is what `kernel.task_delayacct` says: a task made from now on is counted by it.
    ///
    /// # Errors
    /// If the kernel lacks taskstats or this user may not listen.
    pub fn open(accounting_on: Option<bool>) -> Result<Self, Absence> {
        let mut socket = GenericSocket::open_for_records(RECEIVE_BUFFER_BYTES).map_err(task_absence)?;
        let family = taskstats_family(&mut socket)?;
        // A range beyond the possible CPUs is refused, so the kernel is asked for its own words.
        let mut buffer = Buffer::new();
        let root = Roots::live().open().map_err(|_| Absence::Unsupported)?;
        let mut mask = match buffer.read_once(&root, "sys/devices/system/cpu/possible") {
            Ok(possible) => possible.trim_ascii().to_vec(),
            Err(_) => {
                let cpus = system_constant(libc::_SC_NPROCESSORS_CONF).filter(|cpus| *cpus > 0);
                format!("0-{}", cpus.ok_or(Absence::Unsupported)? - 1).into_bytes()
            }
        };
        mask.push(0);
        socket.push(family, layout::CMD_GET, layout::CMD_ATTR_REGISTER_CPUMASK, &mask);
        // Success is not acknowledged, an error is.
        let mut refused = None;
        socket.register(|error| refused = Some(error)).map_err(task_absence)?;
        match refused {
            // Outside the initial user and PID namespaces.
            Some(Errno::INVAL) => Err(Absence::Denied),
            Some(error) => Err(task_absence(error)),
            None => Ok(Self {
                socket,
                receive_buffer_bytes: RECEIVE_BUFFER_BYTES,
                lost: 0,
                opened: clock_now().boottime,
                read: clock_now().boottime,
                accounting_on,
                tick: tick(),
            }),
        }
    }

    /// Delay accounting was enabled just now.
    pub fn accounting_was_enabled(&mut self) {
        self.accounting_on = Some(true);
        self.opened = clock_now().boottime;
    }

    /// Hands over the records that wait, without waiting for more. Values are as the kernel reports them. Where tasks end as fast as their
    /// records are taken, it returns after as many as the queue can hold: all that waited when it was called are among them.
    ///
    /// # Errors
    /// If the socket fails; lost records are no error but counted.
    pub fn receive(&mut self, mut each: impl FnMut(ExitRecord)) -> Result<(), Absence> {
        let since = std::mem::replace(&mut self.read, clock_now().boottime);
        let (opened, accounting_on, tick) = (self.opened, self.accounting_on, self.tick);
        let mut room = self.receive_buffer_bytes / MIN_RECORD_BYTES;
        while room > 0 {
            let received = self.socket.receive(|message| {
                room = room.saturating_sub(1);
                let Some(stats) = stats_attribute(&message, layout::TYPE_AGGR_PID) else { return };
                if let Ok(layout::TaskStats { mut row, exit, .. }) = layout::decode(stats, accounting_on) {
                    let until = clock_now().boottime;
                    row.key.start = until.saturating_sub(row.wall);
                    if accounting_on == Some(true) && row.key.start >= opened {
                        row.accounting = Accounting::On;
                    }
                    each(ExitRecord { row, exit, between: (since, until), tick });
                }
            });
            match received {
                Ok(Some(cut)) => self.lost += cut as u64,
                Ok(None) => return Ok(()),
                // The queue was full: one such error stands for any number of records, which the socket counts. What comes
                // next has more room.
                Err(Errno::NOBUFS) => {
                    self.receive_buffer_bytes =
                        self.socket.widen(self.receive_buffer_bytes, WIDEST_BUFFER_BYTES);
                }
                Err(error) => return Err(task_absence(error)),
            }
        }
        Ok(())
    }

    /// Records that did not fit, into the queue or into the room for one, so far. The socket counts them exactly. Sequence numbers do not
    /// show them: they count per CPU, and a message does not name its CPU.
    pub fn lost(&self) -> u64 {
        self.lost + dropped_messages(self.socket.as_fd()).unwrap_or(0)
    }
}

/// The step of the coarse clocks, which is CONFIG_HZ's.
fn tick() -> Nanos {
    let step = clock_getres(ClockId::MonotonicCoarse);
    Nanos(u64::try_from(step.tv_nsec).unwrap_or(0))
}

impl AsFd for ExitRecords {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
