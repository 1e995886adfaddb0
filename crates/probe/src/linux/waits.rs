//! What the threads of processes wait for now, and who can end it: /proc, and sock_diag(7).
//!
//! Nothing is kept from one look at the machine to the next but memory.

mod descriptors;
mod locks;
mod processes;
mod sockets;

use facts::linux::pid_syscall::{PidSyscall, kind_of_link};
use facts::task::chain::{
    Activity, Awaited, Dependence, LockHolder, Object, ProcessNow, ThreadNow, WaitSource, holder,
};
use facts::task::wait::{FileKind, Wait, WaitReason, WaitTarget};

use self::descriptors::Descriptors;
use self::processes::{Direction, Processes};
use self::sockets::Sockets;
use crate::roots::{RootError, Roots};

/// The words of memory at a lock that may name its holder.
const LOCK_WORDS: usize = 5;

/// Reads what threads wait for.
pub struct WaitReader {
    processes: Processes,
    /// Read when they are needed, once a look.
    descriptors: Option<Descriptors>,
    sockets: Option<Sockets>,
    locks: Option<Vec<facts::linux::locks::FileLock>>,
}

impl WaitReader {
    /// Opens /proc.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open() -> Result<Self, RootError> {
        let processes = Processes::open(Roots::live().open()?);
        Ok(Self { processes, descriptors: None, sockets: None, locks: None })
    }

    /// Begins a new look: nothing of the last one is taken for the present.
    pub fn look_again(&mut self) {
        self.processes.forget();
        (self.descriptors, self.sockets, self.locks) = (None, None, None);
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

    fn descriptors(&mut self) -> &Descriptors {
        self.descriptors.get_or_insert_with(|| Descriptors::read(&mut self.processes))
    }

    fn sockets(&mut self) -> &Sockets {
        self.sockets.get_or_insert_with(Sockets::read)
    }

    fn threads_of(&mut self, pid: u32) -> Vec<ThreadNow> {
        self.processes.process(pid).map_or(Vec::new(), |process| process.threads)
    }

    /// A lock: the words at its address name its holder, or one thread alone can have it.
    fn lock(&mut self, thread: &ThreadNow, address: u64) -> Awaited {
        let words = self.processes.words::<LOCK_WORDS>(thread.pid, address);
        let threads = self.threads_of(thread.pid);
        // Within a namespace of processes the words have the numbers of that one.
        let numbers = self.processes.inner_numbers(thread.pid, &threads);
        let number_of =
            |tid: u32| numbers.iter().find(|(own, _)| *own == tid).map_or(tid, |(_, inner)| *inner);
        let own = number_of(thread.tid);
        let is_other =
            |number: u32| number != own && threads.iter().any(|other| number_of(other.tid) == number);
        let found = words.map_or(LockHolder::Unknown, |words| holder(&words, is_other));
        let named = |number: u32| {
            let tid = threads.iter().map(|other| other.tid).find(|tid| number_of(*tid) == number);
            let pid = thread.pid;
            tid.map_or(Dependence::Unknown, |tid| Dependence::Thread { pid, tid, is_probable: false })
        };
        match found {
            LockHolder::EndOf(number) => Awaited { object: Object::ThreadEnd, on: named(number) },
            LockHolder::Thread(number) => Awaited { object: Object::Lock(address), on: named(number) },
            LockHolder::Unnamed => {
                Awaited { object: Object::Lock(address), on: only_one_awake(thread, &threads) }
            }
            LockHolder::Unknown => Awaited { object: Object::None, on: Dependence::Unknown },
        }
    }

    /// A descriptor: of a pipe, a socket, or a file that something else serves.
    fn descriptor(&mut self, thread: &ThreadNow, wait: Wait, descriptor: u32) -> Awaited {
        let Some(link) = self.processes.link(thread.pid, descriptor) else { return Awaited::NOTHING };
        let is_for_room = wait.call.is_some_and(|call| call.is_for_room());
        match wait.reason {
            WaitReason::FileLock => {
                Awaited { on: self.lock_of_file(thread, descriptor), object: Object::File(link) }
            }
            WaitReason::Pipe | WaitReason::File if !link.starts_with("/dev/") => {
                let wanted = if is_for_room { Direction::Reads } else { Direction::Writes };
                let object = if link.starts_with('/') { Object::File(link.clone()) } else { Object::Pipe };
                Awaited { object, on: self.other_end_of_pipe(thread.pid, &link, wanted) }
            }
            WaitReason::LocalSocket | WaitReason::RemoteSocket | WaitReason::Socket => {
                self.socket(thread.pid, &link)
            }
            WaitReason::Filesystem => {
                let on = self.server_of_filesystem();
                Awaited { object: Object::File(link), on }
            }
            _ if link.starts_with('/') => Awaited { object: Object::File(link), on: Dependence::None },
            _ => Awaited::NOTHING,
        }
    }

    fn other_end_of_pipe(&mut self, pid: u32, link: &str, wanted: Direction) -> Dependence {
        let mut found: Vec<u32> = match link.starts_with('/') {
            // A named one is looked for where it is needed.
            true => Descriptors::of_file(&mut self.processes, link),
            false => self.descriptors().of(link).to_vec(),
        }
        .into_iter()
        .filter(|open| self.processes.direction(open.pid, open.descriptor).is_none_or(|way| way.is(wanted)))
        .map(|open| open.pid)
        .collect();
        found.dedup();
        // Its own copy of the other end can be an oversight, or the way in which its threads wake each other.
        if found.iter().any(|other| *other != pid) {
            found.retain(|other| *other != pid);
        }
        self.processes_or_unknown(found)
    }

    /// Processes that were found; none may be another user's.
    fn processes_or_unknown(&self, pids: Vec<u32>) -> Dependence {
        match (pids.is_empty(), self.processes.are_all_seen()) {
            (false, _) => Dependence::Processes { pids, is_probable: false },
            (true, true) => Dependence::Unknown,
            (true, false) => Dependence::OtherUser,
        }
    }

    fn socket(&mut self, pid: u32, link: &str) -> Awaited {
        let Some(inode) = descriptors::inode_of(link) else { return Awaited::NOTHING };
        let Some(end) = self.sockets().other_end(inode) else {
            return Awaited { object: Object::None, on: Dependence::Unknown };
        };
        let on = match end.peer {
            // Elsewhere.
            sockets::Peer::Remote => Dependence::None,
            sockets::Peer::Unknown => Dependence::Unknown,
            sockets::Peer::Here(peer) => {
                let mut pids: Vec<u32> =
                    self.descriptors().of(&format!("socket:[{peer}]")).iter().map(|open| open.pid).collect();
                pids.dedup();
                if pids.iter().any(|other| *other != pid) {
                    pids.retain(|other| *other != pid);
                }
                self.processes_or_unknown(pids)
            }
        };
        Awaited { object: end.object, on }
    }

    /// Who serves a filesystem in user space, if one process alone does so on this machine.
    fn server_of_filesystem(&mut self) -> Dependence {
        let mut pids: Vec<u32> =
            Descriptors::of_file(&mut self.processes, "/dev/fuse").into_iter().map(|open| open.pid).collect();
        pids.dedup();
        match pids[..] {
            [_] => Dependence::Processes { pids, is_probable: true },
            _ => Dependence::Unknown,
        }
    }

    /// The children of a process that live.
    fn children(&mut self, pid: u32) -> Dependence {
        let children = self.processes.children(pid);
        if children.is_empty() {
            return Dependence::Unknown;
        }
        Dependence::Processes { is_probable: children.len() > 1, pids: children }
    }

    /// Several descriptors: what an event loop waits for is known if it is one thing, or if answers are due on connections that it made.
    fn events(&mut self, thread: &ThreadNow) -> Awaited {
        let Some(PidSyscall::Asleep { number, arguments }) = self.processes.call(thread) else {
            return Awaited::NOTHING;
        };
        let awaited = self.processes.awaited_descriptors(thread.pid, number, arguments);
        let object = Object::Descriptors(awaited.len() as u32);
        let is_one = awaited.len() == 1;
        let links: Vec<(u32, String)> = awaited
            .into_iter()
            .filter_map(|descriptor| Some((descriptor, self.processes.link(thread.pid, descriptor)?)))
            .filter(|(_, link)| matches!(kind_of_link(link), FileKind::Pipe | FileKind::OtherSocket))
            .collect();
        // Among others, such as those by which threads wake each other, it is not what is waited for.
        if let ([(_, link)], true) = (&links[..], is_one) {
            let awaited = match kind_of_link(link) {
                FileKind::Pipe => {
                    let on = self.other_end_of_pipe(thread.pid, link, Direction::Writes);
                    Awaited { object: Object::Pipe, on }
                }
                _ => self.socket(thread.pid, link),
            };
            // One that is not connected waits for anyone.
            if awaited.on != Dependence::Unknown {
                return awaited;
            }
            return Awaited { object, on: Dependence::None };
        }
        let due = links.iter().filter_map(|(_, link)| {
            let inode = descriptors::inode_of(link)?;
            self.sockets().has_answer_due(inode).then(|| link.clone())
        });
        let due: Vec<String> = due.collect();
        match &due[..] {
            [] => Awaited { object, on: Dependence::None },
            [link] => probably(self.socket(thread.pid, link)),
            several => {
                let several: Vec<Awaited> =
                    several.iter().map(|link| self.socket(thread.pid, link)).collect();
                let mut pids: Vec<u32> = several
                    .iter()
                    .flat_map(|awaited| match &awaited.on {
                        Dependence::Processes { pids, .. } => pids.clone(),
                        _ => Vec::new(),
                    })
                    .collect();
                pids.sort_unstable();
                pids.dedup();
                let on = match pids.is_empty() {
                    true => Dependence::None,
                    false => Dependence::Processes { pids, is_probable: true },
                };
                Awaited { object, on }
            }
        }
    }
}

impl WaitSource for WaitReader {
    fn process(&mut self, pid: u32) -> Option<ProcessNow> {
        self.processes.process(pid)
    }

    fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
        let wait = match thread.activity {
            Activity::Waits(wait) => wait,
            Activity::Traced => {
                let on = match self.processes.tracer(thread) {
                    Some(pid) => Dependence::Processes { pids: vec![pid], is_probable: false },
                    None => Dependence::Unknown,
                };
                return Awaited { object: Object::None, on };
            }
            Activity::Hidden => return Awaited { object: Object::None, on: Dependence::OtherUser },
            Activity::Runs | Activity::Stopped | Activity::Ended => return Awaited::NOTHING,
        };
        match (wait.reason, wait.target) {
            (WaitReason::Lock, WaitTarget::Address(address)) => self.lock(thread, address),
            (WaitReason::Child, WaitTarget::Process(child)) => Awaited {
                object: Object::None,
                on: Dependence::Processes { pids: vec![child], is_probable: false },
            },
            (WaitReason::Child, _) => Awaited { object: Object::None, on: self.children(thread.pid) },
            (WaitReason::Events, WaitTarget::None) => self.events(thread),
            (WaitReason::Clients, _) => Awaited::NOTHING,
            (_, WaitTarget::Descriptor(descriptor)) => self.descriptor(thread, wait, descriptor),
            (WaitReason::Other, _) => Awaited { object: Object::None, on: Dependence::Unknown },
            _ => Awaited::NOTHING,
        }
    }
}

/// The thread that probably has a lock: the only one of the process that does not wait for a lock itself, and has something to do.
fn only_one_awake(thread: &ThreadNow, threads: &[ThreadNow]) -> Dependence {
    let is_at_a_lock =
        |other: &ThreadNow| matches!(other.activity, Activity::Waits(Wait { reason: WaitReason::Lock, .. }));
    let mut others = threads.iter().filter(|other| other.tid != thread.tid && !is_at_a_lock(other));
    match (others.next(), others.next()) {
        (Some(only), None) if !only.is_idle() => {
            Dependence::Thread { pid: thread.pid, tid: only.tid, is_probable: true }
        }
        _ => Dependence::Unknown,
    }
}

fn probably(awaited: Awaited) -> Awaited {
    let on = match awaited.on {
        Dependence::Processes { pids, .. } => Dependence::Processes { pids, is_probable: true },
        on => on,
    };
    Awaited { on, ..awaited }
}
