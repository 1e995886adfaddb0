//! Tasks over netlink: batches of requests in one send, their replies in one receive.

use std::path::Path;

use facts::linux::genetlink::{Attributes, Message};
use facts::linux::taskstats::{self as layout, TaskStats};
use facts::sample::Absence;
use facts::task::TaskRow;
use rustix::fd::AsRawFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::clock::clock_now;
use crate::linux::files::task_absence;
use crate::linux::netlink::{BATCH, GenericSocket};

/// An open socket that has answered once.
pub(crate) struct Taskstats {
    socket: GenericSocket,
    family: u16,
    pub(super) version: u16,
    pub(super) length: usize,
}

impl Taskstats {
    /// Opens the socket and asks for whit itself, which shows whether it is permitted and what the kernel speaks.
    pub(crate) fn open() -> Result<Self, Absence> {
        let mut socket = GenericSocket::open().map_err(task_absence)?;
        let family = taskstats_family(&mut socket)?;
        let mut opened = Self { socket, family, version: 0, length: 0 };
        let own_pid = std::process::id();
        opened.socket.push(family, layout::CMD_GET, layout::CMD_ATTR_PID, &own_pid.to_ne_bytes());
        let mut own = Err(Absence::Unsupported);
        let exchanged = opened.socket.exchange(|_, reply| own = decode(reply, layout::TYPE_AGGR_PID, None));
        exchanged.map_err(task_absence)?;
        let own = own?;
        (opened.version, opened.length) = (own.version, own.length);
        Ok(opened)
    }

    /// Reads threads. Values are as the kernel reports them.
    pub(super) fn read(
        &mut self,
        tids: &[u32],
        accounting_on: Option<bool>,
        each: &mut impl FnMut(usize, Result<TaskRow, Absence>),
    ) {
        for (batch, tids) in tids.chunks(BATCH).enumerate() {
            for tid in tids {
                self.socket.push(self.family, layout::CMD_GET, layout::CMD_ATTR_PID, &tid.to_ne_bytes());
            }
            let now = clock_now().boottime;
            let mut answered = 0u64;
            let result = self.socket.exchange(|index, reply| {
                answered |= 1 << index;
                let row = decode(reply, layout::TYPE_AGGR_PID, accounting_on).map(
                    |TaskStats { mut row, .. }| {
                        row.key.start = now.saturating_sub(row.wall);
                        row
                    },
                );
                each(batch * BATCH + index, row);
            });
            // A batch that failed half-way leaves its other tasks unread, which is said of each.
            let reason = result.map_or_else(task_absence, |()| Absence::Gone);
            for index in (0..tids.len()).filter(|index| answered >> index & 1 == 0) {
                each(batch * BATCH + index, Err(reason));
            }
        }
    }

    /// A thread group's delays, the ended threads' included.
    pub(super) fn read_group(&mut self, tgid: u32) -> Option<TaskRow> {
        self.socket.push(self.family, layout::CMD_GET, layout::CMD_ATTR_TGID, &tgid.to_ne_bytes());
        let mut group = None;
        let exchanged = self.socket.exchange(|_, reply| {
            group = decode(reply, layout::TYPE_AGGR_TGID, None).ok().map(|stats| stats.row);
        });
        exchanged.ok().and(group)
    }

    /// A thread, and its group's delays, in one exchange.
    pub(super) fn read_with_group(
        &mut self,
        pid: u32,
        accounting_on: Option<bool>,
    ) -> Option<(TaskRow, Option<TaskRow>)> {
        let id = pid.to_ne_bytes();
        self.socket.push(self.family, layout::CMD_GET, layout::CMD_ATTR_TGID, &id);
        self.socket.push(self.family, layout::CMD_GET, layout::CMD_ATTR_PID, &id);
        let (mut row, mut group) = (None, None);
        let exchanged = self.socket.exchange(|index, reply| match index {
            0 => group = decode(reply, layout::TYPE_AGGR_TGID, None).ok().map(|stats| stats.row),
            _ => row = decode(reply, layout::TYPE_AGGR_PID, accounting_on).ok().map(|stats| stats.row),
        });
        exchanged.ok()?;
        row.map(|row| (row, group))
    }

    /// The fifth of the counts that CGROUPSTATS gives: tasks that wait for I/O.
    pub(super) fn cgroup_io_wait(&mut self, directory: &Path) -> Option<u64> {
        let directory =
            open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let descriptor = directory.as_raw_fd().to_ne_bytes();
        self.socket.push(
            self.family,
            layout::CGROUPSTATS_CMD_GET,
            layout::CGROUPSTATS_CMD_ATTR_FD,
            &descriptor,
        );
        let mut waiting = None;
        let exchanged = self.socket.exchange(|_, reply| {
            let Ok(message) = reply else { return };
            let stats = message.attributes().find(|(kind, _)| *kind == layout::CGROUPSTATS_TYPE_STATS);
            waiting = stats
                .and_then(|(_, counts)| counts.as_chunks::<8>().0.get(4).copied().map(u64::from_ne_bytes));
        });
        exchanged.ok().and(waiting)
    }
}

/// The family's number. An unknown family is ENOENT: the kernel was built without taskstats.
pub(crate) fn taskstats_family(socket: &mut GenericSocket) -> Result<u16, Absence> {
    socket.family("TASKSTATS").map_err(|error| match error {
        Errno::NOENT => Absence::Unsupported,
        error => task_absence(error),
    })
}

/// The struct in a reply.
fn decode(
    reply: Result<Message<'_>, Errno>,
    aggregate: u16,
    accounting_on: Option<bool>,
) -> Result<TaskStats, Absence> {
    let message = reply.map_err(task_absence)?;
    let stats = stats_attribute(&message, aggregate).ok_or(Absence::Malformed)?;
    layout::decode(stats, accounting_on).map_err(|_| Absence::Malformed)
}

/// The bytes of the struct within an aggregate, which nests the id before it.
pub(crate) fn stats_attribute<'a>(message: &Message<'a>, aggregate: u16) -> Option<&'a [u8]> {
    let (_, nested) = message.attributes().find(|(kind, _)| *kind == aggregate)?;
    Attributes(nested).find(|(kind, _)| *kind == layout::TYPE_STATS).map(|(_, stats)| stats)
}
