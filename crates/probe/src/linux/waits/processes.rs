//! Processes and their threads, and single facts about them, as /proc has them.

use std::collections::HashMap;

use facts::cursor::{Cursor, lines};
use facts::linux::pid_stat::PidStat;
use facts::linux::pid_syscall::{PidSyscall, kind_of_link};
use facts::linux::system_calls::name_of;
use facts::task::chain::{Activity, ProcessNow, ThreadNow};
use facts::task::wait::{FileKind, Wait};
use rustix::fs::OFlags;
use rustix::io::{Errno, pread};

use crate::linux::files::Buffer;
use crate::linux::system_calls::MACHINE;
use crate::linux::tasks::listing::Listing;
use crate::roots::MachineDirectory;

/// The most threads of a process that are read.
const MOST_THREADS: usize = 4096;
/// The most descriptors of a poll(2), select(2) or epoll(7) that are looked at.
const MOST_AWAITED: usize = 1024;

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
    known: HashMap<u32, Option<ProcessNow>>,
    /// A process was met that may not be looked at.
    has_hidden: bool,
}

impl Processes {
    pub(super) fn open(root: MachineDirectory) -> Self {
        let listing = Listing::open(&root);
        Self { root, listing, buffer: Buffer::new(), known: HashMap::new(), has_hidden: false }
    }

    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.has_hidden = false;
    }

    /// Notes that a process may not be looked at.
    pub(super) fn note(&mut self, error: Errno) {
        self.has_hidden |= matches!(error, Errno::ACCESS | Errno::PERM);
    }

    /// Returns whether no process was hidden so far.
    pub(super) fn are_all_seen(&self) -> bool {
        !self.has_hidden
    }

    pub(super) fn pids(&mut self) -> Vec<u32> {
        let mut pids = Vec::new();
        // Without /proc there is none.
        let _ = self.listing.processes(&mut pids);
        pids
    }

    pub(super) fn process(&mut self, pid: u32) -> Option<ProcessNow> {
        if let Some(known) = self.known.get(&pid) {
            return known.clone();
        }
        let mut tids = Vec::new();
        let found = self.listing.threads(pid, &mut tids).ok().map(|()| {
            tids.truncate(MOST_THREADS);
            let threads = tids.iter().filter_map(|tid| self.thread(pid, *tid)).collect();
            ProcessNow { pid, threads }
        });
        let found = found.filter(|process: &ProcessNow| !process.threads.is_empty());
        self.known.insert(pid, found.clone());
        found
    }

    fn thread(&mut self, pid: u32, tid: u32) -> Option<ThreadNow> {
        let mut stat = PidStat::default();
        let bytes = self.buffer.read_once(&self.root, &format!("proc/{pid}/task/{tid}/stat")).ok()?;
        stat.parse(bytes).ok()?;
        // All threads of the kernel are children of kthreadd, which is the second process.
        let is_of_kernel = stat.ppid == 2 || pid == 2;
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
        Some(ThreadNow { tid, pid, comm: stat.comm.to_string(), activity })
    }

    fn wait(&mut self, pid: u32, tid: u32) -> Result<Option<Wait>, Errno> {
        let call = self.read_call(pid, tid)?;
        let link = call.descriptor().and_then(|descriptor| self.link(pid, descriptor));
        Ok(call.wait(MACHINE, link.as_deref().map_or(FileKind::Unknown, kind_of_link)))
    }

    fn read_call(&mut self, pid: u32, tid: u32) -> Result<PidSyscall, Errno> {
        let bytes = self.buffer.read_once(&self.root, &format!("proc/{pid}/task/{tid}/syscall"))?;
        PidSyscall::parse(bytes).map_err(|_| Errno::BADMSG)
    }

    pub(super) fn call(&mut self, thread: &ThreadNow) -> Option<PidSyscall> {
        self.read_call(thread.pid, thread.tid).ok()
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
        let flags = lines(text).find_map(|mut line| line.skip(b"flags:").then_some(line))?.rest();
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

    fn memory(&self, pid: u32, address: u64, length: usize) -> Option<Vec<u8>> {
        let file = self.root.open_at(&format!("proc/{pid}/mem"), OFlags::RDONLY).ok()?;
        let mut bytes = vec![0; length];
        let read = pread(&file, &mut bytes[..], address).ok()?;
        // The end of a mapping: what lies behind is none of it.
        bytes.truncate(read);
        (read > 0).then_some(bytes)
    }

    /// The ids that threads have in their own namespace, with those that they have here; none if they are the same.
    pub(super) fn inner_numbers(&mut self, pid: u32, threads: &[ThreadNow]) -> Vec<(u32, u32)> {
        if self.inner_number(pid, pid).is_none_or(|number| number == pid) {
            return Vec::new();
        }
        let inner = |thread: &ThreadNow| Some((thread.tid, self.inner_number(pid, thread.tid)?));
        threads.iter().filter_map(inner).collect()
    }

    fn inner_number(&mut self, pid: u32, tid: u32) -> Option<u32> {
        let text = self.read(&format!("proc/{pid}/task/{tid}/status"))?;
        let numbers = lines(text).find_map(|mut line| line.skip(b"NSpid:").then_some(line))?.rest();
        str::from_utf8(numbers).ok()?.split_whitespace().last()?.parse().ok()
    }

    /// The debugger of a thread: `TracerPid:` of proc_pid_status(5).
    pub(super) fn tracer(&mut self, thread: &ThreadNow) -> Option<u32> {
        let text = self.read(&format!("proc/{}/task/{}/status", thread.pid, thread.tid))?;
        let mut line = lines(text).find_map(|mut line| line.skip(b"TracerPid:").then_some(line))?;
        line.number().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0)
    }

    /// The children of a process that live, by those of its threads: proc_tid_children(5).
    pub(super) fn children(&mut self, pid: u32) -> Vec<u32> {
        let threads = self.process(pid).map_or(Vec::new(), |process| process.threads);
        let mut children = Vec::new();
        for thread in threads {
            let Some(text) = self.read(&format!("proc/{pid}/task/{}/children", thread.tid)) else { continue };
            let text = String::from_utf8_lossy(text).into_owned();
            children.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        let lives = |child: &u32| {
            self.process(*child)
                .is_some_and(|child| child.threads.iter().any(|thread| thread.activity != Activity::Ended))
        };
        children.into_iter().filter(lives).collect()
    }

    /// The descriptors that a call of poll(2), select(2) or epoll_wait(2) waits for, as its arguments and its memory say; none of another call.
    pub(super) fn awaited_descriptors(&mut self, pid: u32, number: i32, arguments: [u64; 4]) -> Vec<u32> {
        let name = name_of(MACHINE, number);
        match name.unwrap_or_default() {
            "poll" | "ppoll" => {
                let count = (arguments[1] as usize).min(MOST_AWAITED);
                // `struct pollfd`: a descriptor below 0 is ignored.
                let memory = self.memory(pid, arguments[0], count * 8).unwrap_or_default();
                let descriptor = |one: &[u8]| Some(i32::from_ne_bytes(*one.first_chunk::<4>()?));
                memory
                    .chunks_exact(8)
                    .filter_map(descriptor)
                    .filter_map(|one| u32::try_from(one).ok())
                    .collect()
            }
            "select" | "pselect6" => {
                let count = (arguments[0] as usize).min(MOST_AWAITED);
                let sets = [arguments[1], arguments[2]].map(|address| match address {
                    0 => Vec::new(),
                    address => self.memory(pid, address, count.div_ceil(64) * 8).unwrap_or_default(),
                });
                let is_in = |descriptor: &usize| {
                    sets.iter().any(|set| {
                        set.get(descriptor / 8).is_some_and(|byte| byte >> (descriptor % 8) & 1 == 1)
                    })
                };
                (0..count).filter(is_in).map(|descriptor| descriptor as u32).collect()
            }
            "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => {
                let Some(text) = self.read(&format!("proc/{pid}/fdinfo/{}", arguments[0])) else {
                    return Vec::new();
                };
                // `tfd:        5 events:       19 data: …` of proc_pid_fdinfo(5), Linux 3.8.
                let descriptor = |mut line: Cursor<'_>| {
                    let number = line.skip(b"tfd:").then(|| line.number()).flatten();
                    number.and_then(|number| u32::try_from(number).ok())
                };
                lines(text).filter_map(descriptor).take(MOST_AWAITED).collect()
            }
            _ => Vec::new(),
        }
    }
}
