//! Processes and their threads, and single facts about them, as /proc has them.

use std::collections::HashMap;
use std::rc::Rc;

use facts::cursor::field;
use facts::linux::pid_stat::PidStat;
use facts::linux::pid_syscall::PidSyscall;
use facts::task::chain::{Activity, ProcessNow, ThreadNow};
use facts::task::wait::Wait;
use rustix::fs::OFlags;
use rustix::io::{Errno, pread};

use crate::linux::file_kind::wait_of_call;
use crate::linux::files::{Buffer, Extent};
use crate::linux::tasks::listing::Listing;
use crate::roots::{Identity, MachineDirectory};

/// The most threads of a process that are read.
const MAX_THREADS: usize = 4096;

/// The purpose for which a file was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Reads,
    Writes,
    Both,
}

impl Direction {
    pub(super) fn is(self, wanted: Self) -> bool {
        self == wanted || self == Self::Both
    }
}

/// Reads /proc, process by process.
pub(super) struct Processes {
    root: MachineDirectory,
    listing: Listing,
    buffer: Buffer,
    /// The processes of this look.
    known: HashMap<u32, Option<Rc<ProcessNow>>>,
    numbers: HashMap<u32, Rc<HashMap<u32, u32>>>,
    /// There is a process that was not looked at.
    has_unseen: bool,
}

impl Processes {
    pub(super) fn open(root: MachineDirectory) -> Self {
        let listing = Listing::open(&root);
        let (known, numbers) = (HashMap::new(), HashMap::new());
        Self { root, listing, buffer: Buffer::new(), known, numbers, has_unseen: false }
    }

    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.numbers.clear();
        self.has_unseen = false;
    }

    /// Notes that a process may not be looked at.
    pub(super) fn note(&mut self, error: Errno) {
        if matches!(error, Errno::ACCESS | Errno::PERM) {
            self.note_unseen();
        }
    }

    /// Notes that there are processes that were not looked at.
    pub(super) fn note_unseen(&mut self) {
        self.has_unseen = true;
    }

    /// Returns whether all processes were looked at so far.
    pub(super) fn are_all_seen(&self) -> bool {
        !self.has_unseen
    }

    pub(super) fn pids(&mut self) -> Vec<u32> {
        let mut pids = Vec::new();
        // Without /proc there is none.
        let _ = self.listing.processes(&mut pids);
        pids
    }

    pub(super) fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
        if let Some(known) = self.known.get(&pid) {
            return known.clone();
        }
        let mut tids = Vec::new();
        let found = self.listing.threads(pid, &mut tids).ok().map(|()| {
            tids.truncate(MAX_THREADS);
            let threads = tids.iter().filter_map(|tid| self.thread(pid, *tid)).collect();
            Rc::new(ProcessNow { pid, threads })
        });
        let found = found.filter(|process| !process.threads.is_empty());
        self.known.insert(pid, found.clone());
        found
    }

    fn thread(&mut self, pid: u32, tid: u32) -> Option<ThreadNow> {
        let mut stat = PidStat::default();
        let bytes = self.read_piece(pid, tid, "stat").ok()?;
        stat.parse(bytes).ok()?;
        // A thread of the kernel has no memory of its own.
        let is_of_kernel = stat.virtual_bytes == 0;
        let activity = match stat.state {
            b'R' => Activity::Runs,
            b'T' => Activity::Stopped,
            b't' => Activity::Traced,
            b'Z' | b'X' => Activity::Ended,
            _ if is_of_kernel => Activity::Waits(Wait::KERNEL_WORK),
            letter => match self.wait(pid, tid) {
                Ok(Some(wait)) => wait.in_state(letter).map_or(Activity::Runs, Activity::Waits),
                // It went on between the two readings.
                Ok(None) => Activity::Runs,
                Err(Errno::ACCESS | Errno::PERM) => Activity::Hidden,
                Err(_) => return None,
            },
        };
        Some(ThreadNow {
            tid,
            pid,
            comm: String::from_utf8_lossy(stat.comm.as_bytes()).into_owned(),
            activity,
        })
    }

    fn wait(&mut self, pid: u32, tid: u32) -> Result<Option<Wait>, Errno> {
        let call = self.read_call(pid, tid)?;
        Ok(wait_of_call(&self.root, &mut self.buffer, pid, call))
    }

    fn read_call(&mut self, pid: u32, tid: u32) -> Result<PidSyscall, Errno> {
        let bytes = self.read_piece(pid, tid, "syscall")?;
        PidSyscall::parse(bytes).map_err(|_| Errno::BADMSG)
    }

    /// Reads a file of a thread that the kernel makes in one piece.
    fn read_piece(&mut self, pid: u32, tid: u32, name: &str) -> Result<&[u8], Errno> {
        let path = format!("proc/{pid}/task/{tid}/{name}");
        self.buffer.read_once_as(&self.root, &path, Extent::Whole)
    }

    /// The system call of a thread.
    pub(super) fn call(&mut self, thread: &ThreadNow) -> Option<PidSyscall> {
        self.read_call(thread.pid, thread.tid).ok()
    }

    /// The file of a descriptor.
    pub(super) fn file(&self, pid: u32, descriptor: u32) -> Option<Identity> {
        self.root.identity_at(&format!("proc/{pid}/fd/{descriptor}")).ok()
    }

    /// Where a descriptor leads.
    pub(super) fn link(&self, pid: u32, descriptor: u32) -> Option<String> {
        self.root.link_at(&format!("proc/{pid}/fd/{descriptor}")).ok()
    }

    pub(super) fn directory(&mut self, path: &str) -> Option<MachineDirectory> {
        match self.root.directory_at(path) {
            Ok(directory) => Some(directory),
            Err(error) => {
                self.note(error);
                None
            }
        }
    }

    pub(super) fn read(&mut self, path: &str) -> Option<&[u8]> {
        self.buffer.read_once(&self.root, path).ok()
    }

    /// Returns for what a descriptor was opened: `flags:` of proc_pid_fdinfo(5), in octal.
    pub(super) fn direction(&mut self, pid: u32, descriptor: u32) -> Option<Direction> {
        let text = self.read(&format!("proc/{pid}/fdinfo/{descriptor}"))?;
        let flags = field(text, b"flags:")?.rest();
        let flags = str::from_utf8(flags).ok()?.trim();
        let flags = u64::from_str_radix(flags, 8).ok()?;
        Some(match flags & 3 {
            0 => Direction::Reads,
            1 => Direction::Writes,
            _ => Direction::Both,
        })
    }

    /// Words of a process's memory: proc_pid_mem(5).
    pub(super) fn words<const N: usize>(&self, pid: u32, address: u64) -> Option<[u32; N]> {
        let bytes = self.memory(pid, address, N * 4)?;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_ne_bytes(bytes.try_into().ok()?);
        }
        Some(words)
    }

    pub(super) fn memory(&self, pid: u32, address: u64, length: usize) -> Option<Vec<u8>> {
        let file = self.root.open_at(&format!("proc/{pid}/mem"), OFlags::RDONLY).ok()?;
        let mut bytes = vec![0; length];
        let read = pread(&file, &mut bytes[..], address).ok()?;
        // The end of a mapping: what lies behind is none of it.
        bytes.truncate(read);
        (read > 0).then_some(bytes)
    }

    /// The threads of a process by the numbers that they have in their own namespace, with those that they have here.
    pub(super) fn numbers(&mut self, pid: u32) -> Rc<HashMap<u32, u32>> {
        if let Some(known) = self.numbers.get(&pid) {
            return Rc::clone(known);
        }
        let is_same = self.inner_number(pid, pid).is_none_or(|number| number == pid);
        let tids = self.tids(pid);
        let mut number = |tid: u32| if is_same { Some(tid) } else { self.inner_number(pid, tid) };
        let numbers = tids.into_iter().filter_map(|tid| Some((number(tid)?, tid))).collect();
        let numbers = Rc::new(numbers);
        self.numbers.insert(pid, Rc::clone(&numbers));
        numbers
    }

    fn tids(&mut self, pid: u32) -> Vec<u32> {
        let process = self.process(pid);
        process.iter().flat_map(|process| &process.threads).map(|thread| thread.tid).collect()
    }

    fn inner_number(&mut self, pid: u32, tid: u32) -> Option<u32> {
        self.all_numbers(pid, tid)?.last().copied()
    }

    /// Returns whether a process has a number in the namespace of another one.
    pub(super) fn is_numbered(&mut self, pid: u32, number: u32, other: u32) -> bool {
        let depth = self.all_numbers(other, other).map_or(1, |numbers| numbers.len());
        let numbers = self.all_numbers(pid, pid).unwrap_or_else(|| vec![pid]);
        numbers.get(depth - 1) == Some(&number)
    }

    /// The numbers of a thread, from this namespace to its innermost one: `NSpid:` of proc_pid_status(5), Linux 4.1.
    fn all_numbers(&mut self, pid: u32, tid: u32) -> Option<Vec<u32>> {
        let text = self.read(&format!("proc/{pid}/task/{tid}/status"))?;
        let numbers = field(text, b"NSpid:")?.rest();
        let numbers = str::from_utf8(numbers).ok()?.split_whitespace().map(|number| number.parse().ok());
        numbers.collect::<Option<Vec<u32>>>().filter(|numbers| !numbers.is_empty())
    }

    /// A number of proc_pid_status(5), by its name with the colon; `None` if it is 0 or not there.
    pub(super) fn number_in_status(&mut self, pid: u32, tid: u32, name: &[u8]) -> Option<u32> {
        let text = self.read(&format!("proc/{pid}/task/{tid}/status"))?;
        field(text, name)?
            .number()
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| *number != 0)
    }

    /// The children of a process that live, by those of its threads: proc_tid_children(5).
    pub(super) fn children(&mut self, pid: u32) -> Vec<u32> {
        let tids = self.tids(pid);
        let mut children = Vec::new();
        for tid in tids {
            let Some(text) = self.read(&format!("proc/{pid}/task/{tid}/children")) else { continue };
            let text = String::from_utf8_lossy(text).into_owned();
            children.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        let lives = |child: &u32| {
            self.process(*child)
                .is_some_and(|child| child.threads.iter().any(|thread| thread.activity != Activity::Ended))
        };
        children.into_iter().filter(lives).collect()
    }
}
