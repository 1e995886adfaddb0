//! What an event loop waits for.

use facts::cursor::{Cursor, lines};
use facts::linux::pid_syscall::{PidSyscall, kind_of_link};
use facts::linux::system_calls::name_of;
use facts::task::chain::{Awaited, Dependence, Object, ThreadNow};
use facts::task::wait::FileKind;

use super::WaitReader;
use super::descriptors::inode_of;
use crate::linux::system_calls::MACHINE;

/// The most descriptors of a call that are looked at.
const MOST: usize = 65_536;
/// The most that are looked at one by one.
const MAX_LINKS: usize = 1024;
/// The most pipes whose other ends are compared.
const MAX_PIPES: usize = 4;
/// POLLIN and POLLOUT, which EPOLLIN and EPOLLOUT are, too.
const DATA: u32 = 1;
const ROOM: u32 = 4;

/// A descriptor whose events are awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watched {
    descriptor: u32,
    is_for_room: bool,
    /// The file's number, where the kernel has noted it: the descriptor may be another file by now.
    inode: Option<u32>,
}

impl WaitReader {
    /// Says what a call waits for that waits for any of several descriptors: it is known if that is one, and probable if an answer is due on a
    /// connection that its process made.
    pub(super) fn events(&mut self, thread: &ThreadNow) -> Awaited {
        let Some(PidSyscall::Asleep { number, arguments }) = self.processes.call(thread) else {
            return Awaited::NOTHING;
        };
        let watched = self.watched(thread.pid, number, arguments);
        let object = Object::Descriptors(watched.len() as u32);
        let nothing = Awaited::new(object, Dependence::None);
        let links: Vec<(Watched, String)> = watched
            .iter()
            .take(MAX_LINKS)
            .filter_map(|one| Some((*one, self.processes.link(thread.pid, one.descriptor)?)))
            .filter(|(one, link)| {
                one.inode.is_none_or(|inode| inode_of(link).is_none_or(|known| known == inode))
            })
            .collect();
        if let ([(one, link)], 1) = (&links[..], watched.len()) {
            let awaited = match kind_of_link(link) {
                FileKind::Pipe => self.pipe(thread.pid, one.descriptor, link, one.is_for_room),
                FileKind::OtherSocket => self.socket(thread.pid, link, one.is_for_room),
                _ => return nothing,
            };
            // A socket that is not connected waits for whatever comes.
            return if awaited.object == Object::None { nothing } else { awaited };
        }
        if links.len() == watched.len()
            && let Some(on) = self.writers_of_all(thread.pid, &links)
        {
            return Awaited { on, ..nothing };
        }
        let due: Vec<&String> = links
            .iter()
            .filter(|(one, link)| {
                !one.is_for_room && inode_of(link).is_some_and(|inode| self.sockets().has_answer_due(inode))
            })
            .map(|(_, link)| link)
            .collect();
        let mut due: Vec<Awaited> =
            due.into_iter().map(|link| self.socket(thread.pid, link, false)).collect();
        match (due.len(), due.pop()) {
            (1, Some(Awaited { object, on: Dependence::Processes { pids, .. }, .. })) => {
                Awaited::new(object, Dependence::Processes { pids, is_probable: true })
            }
            (1, Some(only)) => only,
            (_, Some(last)) => {
                let mut pids: Vec<u32> = due.iter().chain([&last]).flat_map(pids_of).collect();
                pids.sort_unstable();
                pids.dedup();
                if pids.is_empty() {
                    return nothing;
                }
                Awaited { on: Dependence::Processes { pids, is_probable: true }, ..nothing }
            }
            _ => nothing,
        }
    }

    /// The processes that have the other end of each of a few pipes: a command whose output and errors are read. `None` if they are others for
    /// each, or none.
    fn writers_of_all(&mut self, pid: u32, links: &[(Watched, String)]) -> Option<Dependence> {
        let is_pipe =
            |(one, link): &(Watched, String)| !one.is_for_room && kind_of_link(link) == FileKind::Pipe;
        if links.len() > MAX_PIPES || !links.iter().all(is_pipe) {
            return None;
        }
        let mut writers = links.iter().map(|(one, link)| self.pipe(pid, one.descriptor, link, false));
        let first = writers.next()?;
        let pids = pids_of(&first);
        let are_same =
            !pids.is_empty() && !pids.contains(&pid) && writers.all(|other| pids_of(&other) == pids);
        are_same.then_some(Dependence::Processes { pids, is_probable: true })
    }

    /// The descriptors that a call of poll(2), select(2) or epoll_wait(2) waits for, as its arguments and its memory say; none of another call.
    fn watched(&mut self, pid: u32, number: i32, arguments: [u64; 4]) -> Vec<Watched> {
        match name_of(MACHINE, number).unwrap_or_default() {
            "poll" | "ppoll" => {
                let count = (arguments[1] as usize).min(MOST);
                let memory = self.processes.memory(pid, arguments[0], count * 8).unwrap_or_default();
                memory.chunks_exact(8).filter_map(of_poll).collect()
            }
            "select" | "pselect6" => {
                let count = (arguments[0] as usize).min(MOST);
                let mut found = Vec::new();
                for (address, is_for_room) in [(arguments[1], false), (arguments[2], true)] {
                    let length = count.div_ceil(64) * 8;
                    let set = match address {
                        0 => Vec::new(),
                        address => self.processes.memory(pid, address, length).unwrap_or_default(),
                    };
                    found.extend(of_set(&set, count, is_for_room));
                }
                found
            }
            "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => {
                let text = self.processes.read(&format!("proc/{pid}/fdinfo/{}", arguments[0]));
                text.map_or(Vec::new(), |text| lines(text).filter_map(of_epoll).take(MOST).collect())
            }
            _ => Vec::new(),
        }
    }
}

fn pids_of(awaited: &Awaited) -> Vec<u32> {
    match &awaited.on {
        Dependence::Processes { pids, .. } => pids.clone(),
        _ => Vec::new(),
    }
}

/// `struct pollfd`: a descriptor below 0, and one without events, are ignored.
fn of_poll(bytes: &[u8]) -> Option<Watched> {
    let descriptor = u32::try_from(i32::from_ne_bytes(*bytes.first_chunk()?)).ok()?;
    let events = u32::from(u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?));
    of_events(descriptor, events, None)
}

fn of_events(descriptor: u32, events: u32, inode: Option<u32>) -> Option<Watched> {
    let is_for_room = events & (DATA | ROOM) == ROOM;
    (events & (DATA | ROOM) != 0).then_some(Watched { descriptor, is_for_room, inode })
}

/// The descriptors in an `fd_set`.
fn of_set(set: &[u8], count: usize, is_for_room: bool) -> Vec<Watched> {
    let is_in =
        |descriptor: &usize| set.get(descriptor / 8).is_some_and(|byte| byte >> (descriptor % 8) & 1 == 1);
    let watched = |descriptor: usize| Watched { descriptor: descriptor as u32, is_for_room, inode: None };
    (0..count).filter(is_in).map(watched).collect()
}

/// `tfd:        5 events:       19 data: 5  pos:0 ino:1a2b sdev:e` of proc_pid_fdinfo(5), Linux 3.8; the file's number since 4.13.
fn of_epoll(mut line: Cursor<'_>) -> Option<Watched> {
    line.skip(b"tfd:").then_some(())?;
    let descriptor = u32::try_from(line.number()?).ok()?;
    let rest = str::from_utf8(line.rest()).ok()?;
    let hexadecimal = |name: &str| {
        let (_, after) = rest.split_once(name)?;
        u32::from_str_radix(after.split_whitespace().next()?, 16).ok()
    };
    of_events(descriptor, hexadecimal("events:")?, hexadecimal("ino:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(descriptor: u32, is_for_room: bool, inode: Option<u32>) -> Watched {
        Watched { descriptor, is_for_room, inode }
    }

    #[test]
    fn descriptors_are_read_from_memory() {
        let poll = |descriptor: i32, events: u16| {
            let bytes = [&descriptor.to_ne_bytes()[..], &events.to_ne_bytes(), &[0, 0]].concat();
            of_poll(&bytes)
        };
        assert_eq!(poll(5, 1), Some(watched(5, false, None)));
        assert_eq!((poll(5, 4), poll(5, 5)), (Some(watched(5, true, None)), Some(watched(5, false, None))));
        assert_eq!((poll(5, 0), poll(-1, 1), of_poll(&[1, 2])), (None, None, None));
        let set = [0b0000_1001, 0b1];
        let found: Vec<u32> = of_set(&set, 9, true).iter().map(|one| one.descriptor).collect();
        assert_eq!((found, of_set(&set, 3, true).len(), of_set(&[], 9, false).len()), (vec![0, 3, 8], 1, 0));
    }

    #[test]
    fn descriptors_are_read_from_fdinfo() {
        let text = b"pos:\t0\nflags:\t02\nmnt_id:\t15\ntfd:        5 events:       19 data:  5  pos:0 ino:1a2b sdev:e\n\
            tfd:       17 events: 80000004 data: ffff  pos:0 ino:7 sdev:e\ntfd: 9 events: 0 data: 0\ntfd:";
        let found: Vec<Watched> = lines(text).filter_map(of_epoll).collect();
        assert_eq!(found, [watched(5, false, Some(0x1a2b)), watched(17, true, Some(7))]);
    }
}
