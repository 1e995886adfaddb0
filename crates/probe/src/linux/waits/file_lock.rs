//! Who holds the lock of a file.

use std::rc::Rc;

use facts::linux::locks::{FileLock, LockKind, file_locks};
use facts::task::chain::{Dependence, ThreadNow};

use super::WaitReader;

impl WaitReader {
    /// The process that holds the lock for which a thread waits, as far as /proc/locks says.
    pub(super) fn lock_of_file(&mut self, thread: &ThreadNow, descriptor: u32, path: &str) -> Dependence {
        let Some(file) = self.processes.file(thread.pid, descriptor) else { return Dependence::Unknown };
        let locks = self.file_locks();
        // Who waits for a lock of an open file is not named.
        let is_its = |lock: &&FileLock| {
            lock.is_awaited
                && lock.inode == file.inode
                && (lock.pid == Some(thread.pid) || lock.kind == LockKind::OpenFile)
        };
        let mut numbers: Vec<u64> = locks.iter().filter(is_its).map(|lock| lock.number).collect();
        numbers.dedup();
        // Two of its threads wait for two locks of one file: which is whose is not said.
        let [number] = numbers[..] else { return Dependence::Unknown };
        let is_it = |lock: &&FileLock| !lock.is_awaited && lock.number == number;
        let Some(held) = locks.iter().find(is_it).copied() else { return Dependence::Unknown };
        if held.kind == LockKind::Process {
            let pid = held.pid.filter(|pid| self.processes.process(*pid).is_some());
            return self.processes_or_unknown(pid.into_iter().collect());
        }
        // It is who has the file open with the lock: that of flock(2) names who acquired it, and may have passed it on.
        let mut pids = Vec::new();
        for open in self.open_with(path) {
            let path = format!("proc/{}/fdinfo/{}", open.pid, open.descriptor);
            let Some(text) = self.processes.read(&path) else { continue };
            let is_held = |lock: FileLock| {
                !lock.is_awaited
                    && (lock.kind, lock.device, lock.inode, lock.range)
                        == (held.kind, held.device, held.inode, held.range)
            };
            if file_locks(text).any(is_held) {
                pids.push(open.pid);
            }
        }
        pids.dedup();
        // Who acquired it, if that one has it still: children have it, too, as long as they do not close it.
        match held.pid.filter(|pid| pids.contains(pid)) {
            Some(pid) => pids = vec![pid],
            None if pids.len() > 1 => pids.retain(|pid| *pid != thread.pid),
            None => {}
        }
        self.processes_or_unknown(pids)
    }

    fn file_locks(&mut self) -> Rc<[FileLock]> {
        let processes = &mut self.processes;
        let read = || processes.read("proc/locks").map_or(Rc::default(), |text| file_locks(text).collect());
        Rc::clone(self.file_locks.get_or_insert_with(read))
    }
}
