//! Which program a process was before it became another one: its exit record has all of its time under its last name.

use std::collections::{HashMap, HashSet};

use facts::linux::proc_connector::ProcessEvent;
use facts::task::TaskRow;
use facts::task::comm::Comm;

/// Follows the names of processes. Only those that ran for a while are read when they become another program: what a child does between
/// fork(2) and execve(2) takes no time worth a system call.
#[derive(Debug, Default)]
pub(super) struct Execs {
    names: HashMap<u32, Comm>,
    /// Forked since they were looked at.
    young: HashSet<u32>,
    /// Processes that became other programs since then.
    executed: Vec<u32>,
    /// Processes that did so before, while they were young: their names are read if they are still there.
    unnamed: Vec<u32>,
}

/// The figures of a process from its start until it became another program.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeforeExec {
    /// The name that it had.
    pub(super) comm: Comm,
    pub(super) row: TaskRow,
}

impl Execs {
    /// Takes an event of a member of the tree.
    pub(super) fn see(&mut self, event: ProcessEvent) {
        match event {
            ProcessEvent::Fork { parent_tgid, pid, tgid } if pid == tgid => {
                self.young.insert(tgid);
                match self.names.get(&parent_tgid).copied() {
                    Some(comm) => self.names.insert(tgid, comm),
                    None => self.names.remove(&tgid),
                };
            }
            ProcessEvent::Exec { tgid } => self.executed.push(tgid),
            ProcessEvent::Exit { pid, tgid } if pid == tgid => {
                self.names.remove(&tgid);
            }
            ProcessEvent::Fork { .. } | ProcessEvent::Exit { .. } => {}
        }
    }

    /// Returns true if names are to be read soon.
    pub(super) fn has_unnamed(&self) -> bool {
        !self.unnamed.is_empty()
    }

    /// Reads those that became other programs, and returns what those had done of which the earlier name is known.
    pub(super) fn take(&mut self, mut read: impl FnMut(u32) -> Option<TaskRow>) -> Vec<BeforeExec> {
        for tgid in std::mem::take(&mut self.unnamed) {
            if let Some(row) = read(tgid) {
                self.names.insert(tgid, row.comm);
            }
        }
        let mut found = Vec::new();
        for tgid in std::mem::take(&mut self.executed) {
            let known = self.names.remove(&tgid).filter(|_| !self.young.contains(&tgid));
            let Some(comm) = known else {
                self.unnamed.push(tgid);
                continue;
            };
            if let Some(row) = read(tgid) {
                self.names.insert(tgid, row.comm);
                if row.comm != comm {
                    found.push(BeforeExec { comm, row });
                }
            }
        }
        self.young.clear();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::task::TaskKey;
    use facts::unit::Nanos;

    fn fork(parent_tgid: u32, tgid: u32) -> ProcessEvent {
        ProcessEvent::Fork { parent_tgid, pid: tgid, tgid }
    }

    fn row(pid: u32, comm: &str) -> Option<TaskRow> {
        let key = TaskKey { pid, start: Nanos(1) };
        Some(TaskRow { key, comm: Comm::new(comm.as_bytes()), ..TaskRow::NONE })
    }

    #[test]
    fn a_program_that_ran_is_told_apart_from_the_next_one() {
        let mut execs = Execs::default();
        let names = |found: Vec<BeforeExec>| -> Vec<(u32, String)> {
            found.iter().map(|one| (one.row.key.pid, one.comm.to_lossy())).collect()
        };
        // A shell starts python, which runs for a while.
        execs.see(fork(1, 7));
        execs.see(ProcessEvent::Exec { tgid: 7 });
        assert_eq!(names(execs.take(|_| panic!("it has just started"))), []);
        assert_eq!(names(execs.take(|pid| row(pid, "python"))), []);
        execs.see(ProcessEvent::Exec { tgid: 7 });
        assert_eq!(names(execs.take(|pid| row(pid, "true"))), [(7, "python".to_owned())]);
        // Its child has the name of its parent until it becomes something else, at once or after a while.
        execs.see(fork(7, 8));
        execs.see(fork(7, 9));
        execs.see(ProcessEvent::Exec { tgid: 9 });
        assert_eq!(names(execs.take(|_| None)), []);
        execs.see(ProcessEvent::Exec { tgid: 8 });
        assert_eq!(names(execs.take(|pid| row(pid, "cc"))), [(8, "true".to_owned())]);
        // One that is gone has nothing that could be read.
        execs.see(ProcessEvent::Exec { tgid: 9 });
        execs.see(ProcessEvent::Exit { pid: 9, tgid: 9 });
        assert_eq!(names(execs.take(|_| None)), []);
    }
}
