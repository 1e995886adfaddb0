//! What the threads of processes wait for now, and who can end it: /proc, and sock_diag(7).
//!
//! Nothing is kept from one look at the machine to the next but memory.

mod descriptor;
mod descriptors;
mod events;
mod file_lock;
mod futex;
mod processes;
mod sockets;

use std::collections::HashMap;
use std::rc::Rc;

use facts::linux::locks::FileLock;
use facts::linux::pid_syscall::PidSyscall;
use facts::linux::socket_tables::{InetProtocol, InetSocket};
use facts::task::chain::{Activity, Awaited, Dependence, Object, ProcessNow, ThreadNow, WaitSource};
use facts::task::wait::{WaitReason, WaitTarget};

use self::descriptors::{Descriptors, Open};
use self::processes::Processes;
use self::sockets::Sockets;
use crate::roots::{RootError, Roots};

/// `P_PID` of waitid(2).
const ONE_PROCESS: u64 = 1;

/// Reads what threads wait for.
pub struct WaitReader {
    processes: Processes,
    /// Read when they are needed, once a look.
    descriptors: Descriptors,
    sockets: Option<Sockets>,
    file_locks: Option<Rc<[FileLock]>>,
    /// The locks whose holder is another thread of the process, by process and address.
    held: HashMap<(u32, u64), Awaited>,
}

impl WaitReader {
    /// Opens /proc.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open() -> Result<Self, RootError> {
        let processes = Processes::open(Roots::live().open()?);
        let (descriptors, sockets, file_locks, held) = (Descriptors::default(), None, None, HashMap::new());
        Ok(Self { processes, descriptors, sockets, file_locks, held })
    }

    /// Begins a new look: nothing of the last one is taken for the present.
    pub fn look_again(&mut self) {
        self.processes.forget();
        (self.descriptors, self.sockets, self.file_locks) = (Descriptors::default(), None, None);
        self.held.clear();
    }

    /// The processes that there are.
    pub fn pids(&mut self) -> Vec<u32> {
        self.processes.pids()
    }

    /// The processes that descend from one, and live.
    pub fn descendants(&mut self, pid: u32) -> Vec<u32> {
        let mut found = self.processes.children(pid);
        let mut next = 0;
        while let Some(pid) = found.get(next) {
            let below = self.processes.children(*pid);
            found.extend(below);
            next += 1;
        }
        found
    }

    /// The processes that have a file open, by its link; a process once for each descriptor.
    fn open_with(&mut self, link: &str) -> Vec<Open> {
        self.descriptors.of(&mut self.processes, link)
    }

    /// The sockets of TCP and UDP that there are in this network namespace.
    pub fn inet_sockets(&mut self) -> Vec<(InetProtocol, InetSocket)> {
        self.sockets().inet().to_vec()
    }

    /// Returns a process that has a socket open, by the number of the socket.
    pub fn owner_of(&mut self, inode: u32) -> Option<Rc<ProcessNow>> {
        let open = self.open_with(&format!("socket:[{inode}]"));
        self.processes.process(open.first()?.pid)
    }

    fn sockets(&mut self) -> &Sockets {
        self.sockets.get_or_insert_with(Sockets::read)
    }

    /// Processes that were found. If some may not be looked at, they may be others, too.
    fn processes_or_unknown(&self, pids: Vec<u32>) -> Dependence {
        let are_all_seen = self.processes.are_all_seen();
        match (pids.is_empty(), are_all_seen) {
            (false, _) => Dependence::Processes { pids, is_probable: !are_all_seen },
            (true, true) => Dependence::Unknown,
            (true, false) => Dependence::OtherUser,
        }
    }

    /// The children of a process that live: the one that a thread waits for, if its call names one.
    fn children(&mut self, thread: &ThreadNow, named: Option<u32>) -> Dependence {
        let children = self.processes.children(thread.pid);
        let named = match is_waitid(thread).then(|| self.processes.call(thread)).flatten() {
            Some(PidSyscall::Asleep { arguments: [ONE_PROCESS, pid, ..], .. }) => u32::try_from(pid).ok(),
            _ => named,
        };
        let found: Vec<u32> = match named {
            // By the number that it has in the namespace of its parent.
            Some(number) => {
                let is_it = |pid: &u32| self.processes.is_numbered(*pid, number, thread.pid);
                children.into_iter().filter(is_it).collect()
            }
            None => children,
        };
        match found[..] {
            [] => Dependence::Unknown,
            _ => Dependence::Processes { is_probable: found.len() > 1, pids: found },
        }
    }

    /// The end of a child for which a thread may wait as well: a pipe of its own or a signal says that it has come.
    fn children_probably(&mut self, pid: u32) -> Dependence {
        let pids = self.processes.children(pid);
        if pids.is_empty() { Dependence::Unknown } else { Dependence::Processes { pids, is_probable: true } }
    }

    /// A signal: a process of one thread that has a single child mostly waits for its end, as timeout(1) does.
    fn signal(&mut self, thread: &ThreadNow) -> Awaited {
        let is_single = self.processes.process(thread.pid).is_some_and(|own| own.threads.len() == 1);
        match self.processes.children(thread.pid)[..] {
            [child] if is_single => {
                Awaited::new(Object::None, Dependence::Processes { pids: vec![child], is_probable: true })
            }
            _ => Awaited::NOTHING,
        }
    }

    /// The debugger of a thread.
    fn tracer(&mut self, thread: &ThreadNow) -> Dependence {
        let tracer = self.processes.number_in_status(thread.pid, thread.tid, b"TracerPid:");
        let process = tracer.and_then(|tid| self.processes.number_in_status(tid, tid, b"Tgid:"));
        match (process, tracer) {
            (Some(pid), Some(tid)) => Dependence::Thread { pid, tid, is_probable: false },
            _ => Dependence::Unknown,
        }
    }
}

impl WaitSource for WaitReader {
    fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
        self.processes.process(pid)
    }

    fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
        let wait = match thread.activity {
            Activity::Waits(wait) => wait,
            Activity::Traced => return Awaited::new(Object::None, self.tracer(thread)),
            Activity::Hidden => return Awaited::new(Object::None, Dependence::OtherUser),
            Activity::Runs | Activity::Stopped | Activity::Ended => return Awaited::NOTHING,
        };
        match (wait.reason, wait.target) {
            (WaitReason::Lock, WaitTarget::Address(address)) => self.lock(thread, address),
            (WaitReason::Child, target) => {
                let named = match target {
                    WaitTarget::Process(pid) => Some(pid),
                    _ => None,
                };
                Awaited::new(Object::None, self.children(thread, named))
            }
            (WaitReason::Events, WaitTarget::None) => self.events(thread),
            (WaitReason::Clients, _) => Awaited::NOTHING,
            (WaitReason::Signal, _) => self.signal(thread),
            (_, WaitTarget::Descriptor(descriptor)) => self.descriptor(thread, wait, descriptor),
            (WaitReason::Other | WaitReason::Lock | WaitReason::File, _) => Awaited::UNKNOWN,
            _ => Awaited::NOTHING,
        }
    }
}

fn is_waitid(thread: &ThreadNow) -> bool {
    let Activity::Waits(wait) = thread.activity else { return false };
    wait.call.is_some_and(|call| call.name() == "waitid")
}
