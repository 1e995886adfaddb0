//! Who holds the lock of a file.

use facts::linux::locks::{FileLock, file_locks};
use facts::task::chain::{Dependence, ThreadNow};

use super::WaitReader;
use super::descriptors::Descriptors;

impl WaitReader {
    /// The process that holds the lock for which a thread waits. /proc/locks names the process that acquired it; of one that belongs to an
    /// open file, or that was inherited, it is who has the file open with the lock.
    pub(super) fn lock_of_file(&mut self, thread: &ThreadNow, descriptor: u32) -> Dependence {
        let locks = self.file_locks();
        let Some(awaited) = locks.iter().find(|lock| lock.is_awaited && lock.pid == Some(thread.pid)) else {
            return Dependence::Unknown;
        };
        let is_it = |lock: &&FileLock| !lock.is_awaited && lock.number == awaited.number;
        let holder = locks.iter().find(is_it).copied();
        let named = holder.and_then(|lock| lock.pid).filter(|pid| *pid != thread.pid);
        if let Some(pid) = named.filter(|pid| self.processes.process(*pid).is_some()) {
            return Dependence::Processes { pids: vec![pid], is_probable: false };
        }
        let place = (awaited.device, awaited.inode);
        let Some(path) = self.processes.link(thread.pid, descriptor) else { return Dependence::Unknown };
        let mut pids = Vec::new();
        for open in Descriptors::of_file(&mut self.processes, &path) {
            let path = format!("proc/{}/fdinfo/{}", open.pid, open.descriptor);
            let Some(text) = self.processes.read(&path) else { continue };
            let has_it = file_locks(text).any(|lock| !lock.is_awaited && (lock.device, lock.inode) == place);
            if has_it && open.pid != thread.pid {
                pids.push(open.pid);
            }
        }
        pids.dedup();
        self.processes_or_unknown(pids)
    }

    fn file_locks(&mut self) -> Vec<FileLock> {
        let processes = &mut self.processes;
        let read = || processes.read("proc/locks").map_or(Vec::new(), |text| file_locks(text).collect());
        self.locks.get_or_insert_with(read).clone()
    }
}
