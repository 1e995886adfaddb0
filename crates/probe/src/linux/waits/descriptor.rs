//! Who has the other end of a descriptor.

use facts::linux::system_calls::SystemCall;
use facts::task::chain::{Awaited, Dependence, Object, ThreadNow};
use facts::task::wait::{Wait, WaitReason};

use super::WaitReader;
use super::descriptors::{Descriptors, inode_of};
use super::processes::Direction;
use super::sockets::Peer;

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
            _ if self.processes.file(thread.pid, descriptor).is_some_and(|file| file.is_pipe) => {
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
        let processes = &mut self.processes;
        let descriptors = self.descriptors.get_or_insert_with(|| Descriptors::read(processes));
        let open = match link.starts_with('/') {
            // Another file can have had its path, or have it elsewhere.
            true => descriptors.of_file(processes, link),
            false => descriptors.of(link).to_vec(),
        };
        let mut pids = Vec::new();
        for open in open {
            let is_it = processes.file(open.pid, open.descriptor) == file;
            let way = processes.direction(open.pid, open.descriptor);
            if is_it && way.is_none_or(|way| way.is(wanted)) {
                pids.push(open.pid);
            }
        }
        pids.dedup();
        // Its own copy of the other end can be an oversight, or the way in which its threads wake each other.
        if pids.iter().any(|other| *other != pid) {
            pids.retain(|other| *other != pid);
        }
        let on = self.processes_or_unknown(pids);
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
                let descriptors = self.descriptors();
                let mut pids: Vec<u32> = peers
                    .iter()
                    .flat_map(|peer| descriptors.of(&format!("socket:[{peer}]")).iter().map(|open| open.pid))
                    .collect();
                pids.dedup();
                if pids.iter().any(|other| *other != pid) {
                    pids.retain(|other| *other != pid);
                }
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
        let processes = &mut self.processes;
        let descriptors = self.descriptors.get_or_insert_with(|| Descriptors::read(processes));
        let mut pids: Vec<u32> =
            descriptors.of_file(processes, "/dev/fuse").into_iter().map(|open| open.pid).collect();
        pids.dedup();
        match pids[..] {
            [_] => Dependence::Processes { pids, is_probable: true },
            _ => Dependence::Unknown,
        }
    }
}
