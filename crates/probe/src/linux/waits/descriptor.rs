//! Who has the other end of a descriptor.

use facts::linux::system_calls::SystemCall;
use facts::task::chain::{Awaited, Dependence, Object, ThreadNow};
use facts::task::wait::{Wait, WaitReason};

use super::WaitReader;
use super::descriptors::{Open, inode_of};
use super::processes::Direction;
use super::sockets::Peer;
use crate::roots::Identity;

impl WaitReader {
    /// Finds the object of a descriptor: a pipe, a socket, or a file that something else serves.
    pub(super) fn descriptor(&mut self, thread: &ThreadNow, wait: Wait, descriptor: u32) -> Awaited {
        let Some(link) = self.processes.link(thread.pid, descriptor) else { return Awaited::UNKNOWN };
        let is_for_room = wait.call.is_some_and(SystemCall::is_for_room);
        match wait.reason {
            WaitReason::FileLock => {
                let on = self.lock_of_file(thread, descriptor, &link);
                Awaited::new(Object::File(link), on)
            }
            WaitReason::Filesystem => {
                let on = self.server_of_filesystem();
                Awaited::new(Object::File(link), on)
            }
            _ if self.processes.file(thread.pid, descriptor).is_some_and(Identity::is_pipe) => {
                self.pipe(thread.pid, descriptor, &link, is_for_room)
            }
            _ if link.starts_with("socket:[") => self.socket(thread.pid, &link, is_for_room),
            _ if link.starts_with('/') => Awaited::new(Object::File(link), Dependence::None),
            _ => Awaited::NOTHING,
        }
    }

    /// Finds the other end of a pipe.
    pub(super) fn pipe(&mut self, pid: u32, descriptor: u32, link: &str, is_for_room: bool) -> Awaited {
        let wanted = if is_for_room { Direction::Reads } else { Direction::Writes };
        let file = self.processes.file(pid, descriptor);
        let mut pids = Vec::new();
        for Open { pid, descriptor } in self.open_with(link) {
            // Another file can have had its path, or have it elsewhere.
            let is_it = self.processes.file(pid, descriptor) == file;
            if is_it && self.processes.direction(pid, descriptor).is_none_or(|way| way.is(wanted)) {
                pids.push(pid);
            }
        }
        let pids = others(pids, pid);
        let on = match pids == [pid] && self.processes.process(pid).is_some_and(|own| own.threads.len() == 1)
        {
            // Its only thread cannot end this: it waits for a signal, as make(1) does with the end of a child at the pipe of its job slots.
            true => self.children_probably(pid),
            false => self.processes_or_unknown(pids),
        };
        let object = if link.starts_with('/') { Object::File(link.to_owned()) } else { Object::Pipe };
        Awaited { object, on, is_for_room }
    }

    /// Finds the other end of a socket.
    pub(super) fn socket(&mut self, pid: u32, link: &str, is_for_room: bool) -> Awaited {
        let end = inode_of(link).and_then(|inode| self.sockets().other_end(inode));
        let Some(end) = end else { return Awaited { is_for_room, ..Awaited::UNKNOWN } };
        let on = match end.peer {
            // Elsewhere.
            Peer::Remote => Dependence::None,
            Peer::Unknown => Dependence::Unknown,
            Peer::Here(peers) => {
                let open = peers.iter().flat_map(|peer| self.open_with(&format!("socket:[{peer}]")));
                let pids = others(open.map(|open| open.pid).collect(), pid);
                match self.processes_or_unknown(pids) {
                    Dependence::Processes { pids, is_probable } => {
                        Dependence::Processes { pids, is_probable: is_probable || peers.len() > 1 }
                    }
                    on => on,
                }
            }
        };
        Awaited { object: end.object, on, is_for_room }
    }

    /// Who serves a filesystem in user space, if one process alone does so on this machine.
    fn server_of_filesystem(&mut self) -> Dependence {
        let mut pids: Vec<u32> = self.open_with("/dev/fuse").into_iter().map(|open| open.pid).collect();
        pids.dedup();
        match pids[..] {
            [_] => Dependence::Processes { pids, is_probable: true },
            _ => Dependence::Unknown,
        }
    }
}

/// Returns each process once, without one that has a file itself if others have it: its own copy of the other end can be an oversight, or the
/// way in which its threads wake each other.
fn others(mut pids: Vec<u32>, own: u32) -> Vec<u32> {
    pids.dedup();
    if pids.iter().any(|pid| *pid != own) {
        pids.retain(|pid| *pid != own);
    }
    pids
}
