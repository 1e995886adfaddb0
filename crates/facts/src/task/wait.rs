//! What a task that sleeps waits for, by the system call in which it sleeps.
//!
//! The kernel counts no delay for most of it: locks, answers of another process, timers. The call and its arguments say what it asked for. It
//! is the state at one instant: over several readings it is a sample.

use core::cmp::Reverse;

use super::row::TaskRow;
use crate::linux::system_calls::{self, Argument, Machine, SystemCall};

/// The reason for which a task sleeps. The order is part of the format of the history: new ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitReason {
    /// A futex: a mutex, a condition variable, the end of a thread.
    Lock,
    /// A lock of a file: flock(2), fcntl(2).
    FileLock,
    /// A file of a local filesystem: its data, its directory, or that it is written.
    Disk,
    /// A filesystem that another process or another machine serves: FUSE, NFS.
    Filesystem,
    /// A pipe: that there is something in it, or room.
    Pipe,
    /// A socket whose other end is on this machine.
    LocalSocket,
    /// A socket whose other end is elsewhere.
    RemoteSocket,
    /// A socket whose other end is not known: one that is not connected, netlink.
    Socket,
    /// A child process.
    Child,
    /// A point in time.
    Timer,
    /// Anything that happens to some descriptors: epoll(7), poll(2), select(2), eventfd(2).
    Events,
    /// A client that connects.
    Clients,
    /// A terminal: a person, mostly.
    Terminal,
    /// A signal.
    Signal,
    /// Operations that were submitted: io_uring(7), io_getevents(2).
    Submitted,
    /// A device.
    Device,
    /// A message or a semaphore of System V or POSIX.
    Message,
    /// A file by its path, of whichever filesystem; also its locks within the kernel.
    File,
    /// A page of memory, outside of system calls.
    Page,
    /// Work for a thread of the kernel.
    KernelWork,
    /// A system call that says no more.
    Other,
}

impl WaitReason {
    /// All reasons.
    pub const ALL: [Self; 21] = [
        Self::Lock,
        Self::FileLock,
        Self::Disk,
        Self::Filesystem,
        Self::Pipe,
        Self::LocalSocket,
        Self::RemoteSocket,
        Self::Socket,
        Self::Child,
        Self::Timer,
        Self::Events,
        Self::Clients,
        Self::Terminal,
        Self::Signal,
        Self::Submitted,
        Self::Device,
        Self::Message,
        Self::File,
        Self::Page,
        Self::KernelWork,
        Self::Other,
    ];

    /// Its name in columns, labels and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::FileLock => "file lock",
            Self::Disk => "disk",
            Self::Filesystem => "filesystem",
            Self::Pipe => "pipe",
            Self::LocalSocket => "local socket",
            Self::RemoteSocket => "remote socket",
            Self::Socket => "socket",
            Self::Child => "child",
            Self::Timer => "timer",
            Self::Events => "events",
            Self::Clients => "clients",
            Self::Terminal => "terminal",
            Self::Signal => "signal",
            Self::Submitted => "submitted I/O",
            Self::Device => "device",
            Self::Message => "message",
            Self::File => "file",
            Self::Page => "page",
            Self::KernelWork => "kernel work",
            Self::Other => "other",
        }
    }

    /// Returns true if the task has nothing to do: it asked for any work, and not for one thing that it needs to go on.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::Events | Self::Clients | Self::Signal | Self::KernelWork)
    }
}

/// The kind of a file, as `enum file_kind` of probe/src/bpf/tasks.bpf.c numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// It is not known, or there is none.
    Unknown,
    /// Of a local filesystem.
    Regular,
    /// Of a local filesystem.
    Directory,
    /// A disk.
    BlockDevice,
    /// Another device.
    Device,
    /// A device that is a terminal.
    Terminal,
    /// Also one with a name (fifo(7)).
    Pipe,
    /// unix(7).
    UnixSocket,
    /// With its other end at 127.0.0.0/8, ::1 or its own address.
    LoopbackSocket,
    /// With its other end at another address.
    RemoteSocket,
    /// Not connected, or of another family.
    OtherSocket,
    /// epoll(7).
    EventPoll,
    /// eventfd(2).
    EventCounter,
    /// timerfd_create(2).
    Timer,
    /// signalfd(2).
    Signals,
    /// inotify(7), fanotify(7).
    Watches,
    /// io_uring(7).
    Ring,
    /// Another one without a name.
    Anonymous,
    /// FUSE.
    UserspaceFilesystem,
    /// NFS, SMB, 9p, Ceph, AFS.
    RemoteFilesystem,
    /// One that has a path, of whichever filesystem. The iterator says which.
    Path,
}

impl FileKind {
    /// All kinds, by their numbers.
    pub const ALL: [Self; 21] = [
        Self::Unknown,
        Self::Regular,
        Self::Directory,
        Self::BlockDevice,
        Self::Device,
        Self::Terminal,
        Self::Pipe,
        Self::UnixSocket,
        Self::LoopbackSocket,
        Self::RemoteSocket,
        Self::OtherSocket,
        Self::EventPoll,
        Self::EventCounter,
        Self::Timer,
        Self::Signals,
        Self::Watches,
        Self::Ring,
        Self::Anonymous,
        Self::UserspaceFilesystem,
        Self::RemoteFilesystem,
        Self::Path,
    ];

    /// The kind of a number.
    pub fn numbered(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Unknown)
    }

    /// Returns the reason of a task that reads or writes it.
    fn reason(self) -> WaitReason {
        match self {
            Self::Regular | Self::Directory | Self::BlockDevice => WaitReason::Disk,
            Self::UserspaceFilesystem | Self::RemoteFilesystem => WaitReason::Filesystem,
            Self::Path => WaitReason::File,
            Self::Device => WaitReason::Device,
            Self::Terminal => WaitReason::Terminal,
            Self::Pipe => WaitReason::Pipe,
            Self::UnixSocket | Self::LoopbackSocket => WaitReason::LocalSocket,
            Self::RemoteSocket => WaitReason::RemoteSocket,
            Self::OtherSocket => WaitReason::Socket,
            Self::EventPoll | Self::EventCounter | Self::Watches => WaitReason::Events,
            Self::Timer => WaitReason::Timer,
            Self::Signals => WaitReason::Signal,
            Self::Ring => WaitReason::Submitted,
            Self::Unknown | Self::Anonymous => WaitReason::Other,
        }
    }
}

/// The object that a task waits for, as its arguments name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// The arguments name none, or they are not known.
    None,
    /// A descriptor of its process.
    Descriptor(u32),
    /// An address in the memory of its process.
    Address(u64),
    /// A process.
    Process(u32),
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The reason.
    pub reason: WaitReason,
    /// The system call in which it sleeps; `None` if it is in none.
    pub call: Option<SystemCall>,
    /// The object.
    pub target: WaitTarget,
}

impl Wait {
    /// A thread of the kernel.
    pub const KERNEL_WORK: Self = Self::without_call(WaitReason::KernelWork);

    const fn without_call(reason: WaitReason) -> Self {
        Self { reason, call: None, target: WaitTarget::None }
    }

    /// Returns what a task waits for that sleeps in a system call with these first two arguments. A number below 0 is no system call.
    /// `file` is the kind of the file if the first argument is a descriptor. `None` if the numbers of the machine's calls are not known.
    pub fn of_call(machine: Machine, number: i32, arguments: [u64; 2], file: FileKind) -> Option<Self> {
        if number < 0 {
            return Some(Self::without_call(WaitReason::Page));
        }
        if machine == Machine::Unknown {
            return None;
        }
        let Some((call, argument)) = system_calls::numbered(machine, number) else {
            return Some(Self::without_call(WaitReason::Other));
        };
        let descriptor = WaitTarget::Descriptor(arguments[0] as u32);
        let (reason, target) = match argument {
            Argument::Descriptor => (file.reason(), descriptor),
            Argument::Fixed(WaitReason::Lock) => (WaitReason::Lock, WaitTarget::Address(arguments[0])),
            Argument::Fixed(reason @ (WaitReason::Clients | WaitReason::FileLock)) => (reason, descriptor),
            Argument::Fixed(reason) => (reason, WaitTarget::None),
            Argument::Command if is_lock_command(arguments[1]) => (WaitReason::FileLock, descriptor),
            Argument::Command => (file.reason(), descriptor),
            Argument::Process => {
                let pid = u32::try_from(arguments[0] as i32).ok().filter(|pid| *pid > 0);
                (WaitReason::Child, pid.map_or(WaitTarget::None, WaitTarget::Process))
            }
            // Without descriptors it is a pause.
            Argument::EventsOf { count } if arguments[count] as u32 == 0 => {
                (WaitReason::Timer, WaitTarget::None)
            }
            Argument::EventsOf { .. } => (WaitReason::Events, WaitTarget::None),
        };
        Some(Self { reason, call: Some(call), target })
    }

    /// Returns the reason and the call as a number that is not 0.
    pub fn code(self) -> u64 {
        let call = self.call.map_or(0, |call| u64::from(call.0) + 1);
        (call << 8 | self.reason as u64) + 1
    }

    /// Returns what [`Self::code`] wrote; `None` of another number.
    pub fn of_code(code: u64) -> Option<Self> {
        let code = code.checked_sub(1)?;
        let reason = *WaitReason::ALL.get((code & 0xff) as usize)?;
        let call = (code >> 8).checked_sub(1).and_then(|place| u8::try_from(place).ok()).map(SystemCall);
        Some(Self { reason, call: call.filter(|call| call.is_known()), target: WaitTarget::None })
    }
}

/// What several threads wait for: how many for each reason.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By reason, with the first of them.
    threads: [Option<(Wait, u32)>; WaitReason::ALL.len()],
    /// Threads that are on a CPU or could be.
    pub awake: u32,
    /// Threads that sleep, and the source does not say why.
    pub unknown: u32,
}

impl Waits {
    /// Counts the threads of rows.
    pub fn of<'r>(rows: impl Iterator<Item = &'r TaskRow>) -> Self {
        let mut waits = Self::default();
        for row in rows {
            match row.wait {
                Some(wait) => {
                    let entry = waits.threads[wait.reason as usize].get_or_insert((wait, 0));
                    entry.1 += 1;
                }
                None if row.state == Some(b'R') => waits.awake += 1,
                None => waits.unknown += 1,
            }
        }
        waits
    }

    /// Returns the reasons, each with the first thread that has it, and how many have it: that of most threads first.
    pub fn by_threads(&self) -> Vec<(Wait, u32)> {
        let mut found: Vec<(Wait, u32)> = self.threads.iter().flatten().copied().collect();
        // Of those with as many, idle ones come last.
        found.sort_by_key(|(wait, threads)| (Reverse(*threads), wait.reason.is_idle(), wait.reason));
        found
    }
}

/// F_SETLKW, F_OFD_SETLKW: fcntl(2).
fn is_lock_command(command: u64) -> bool {
    matches!(command as u32, 7 | 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(number: i32, arguments: [u64; 2], file: FileKind) -> (WaitReason, &'static str, WaitTarget) {
        let wait = Wait::of_call(Machine::X86_64, number, arguments, file).unwrap();
        assert_eq!(Wait::of_code(wait.code()), Some(Wait { target: WaitTarget::None, ..wait }));
        (wait.reason, wait.call.map_or("", SystemCall::name), wait.target)
    }

    #[test]
    fn a_call_and_its_arguments_are_a_reason() {
        use WaitTarget::{Address, Descriptor, Process};
        for (number, arguments, file, expected) in [
            (202, [0x7000, 0], FileKind::Unknown, (WaitReason::Lock, "futex", Address(0x7000))),
            (0, [3, 0], FileKind::Pipe, (WaitReason::Pipe, "read", Descriptor(3))),
            (0, [0, 0], FileKind::Terminal, (WaitReason::Terminal, "read", Descriptor(0))),
            (0, [5, 0], FileKind::Timer, (WaitReason::Timer, "read", Descriptor(5))),
            (45, [4, 0], FileKind::LoopbackSocket, (WaitReason::LocalSocket, "recvfrom", Descriptor(4))),
            (45, [4, 0], FileKind::RemoteSocket, (WaitReason::RemoteSocket, "recvfrom", Descriptor(4))),
            (288, [4, 0], FileKind::OtherSocket, (WaitReason::Clients, "accept4", Descriptor(4))),
            (74, [6, 0], FileKind::Regular, (WaitReason::Disk, "fsync", Descriptor(6))),
            (72, [6, 7], FileKind::Regular, (WaitReason::FileLock, "fcntl", Descriptor(6))),
            (73, [6, 2], FileKind::Regular, (WaitReason::FileLock, "flock", Descriptor(6))),
            (61, [u64::MAX, 0], FileKind::Unknown, (WaitReason::Child, "wait4", WaitTarget::None)),
            (61, [812, 0], FileKind::Unknown, (WaitReason::Child, "wait4", Process(812))),
            (7, [0x7000, 0], FileKind::Unknown, (WaitReason::Timer, "poll", WaitTarget::None)),
            (7, [0x7000, 2], FileKind::Unknown, (WaitReason::Events, "poll", WaitTarget::None)),
            (23, [0, 0], FileKind::Unknown, (WaitReason::Timer, "select", WaitTarget::None)),
            (232, [3, 0], FileKind::EventPoll, (WaitReason::Events, "epoll_wait", WaitTarget::None)),
            (230, [1, 0], FileKind::Regular, (WaitReason::Timer, "clock_nanosleep", WaitTarget::None)),
            (-1, [0, 0], FileKind::Unknown, (WaitReason::Page, "", WaitTarget::None)),
            (9999, [0, 0], FileKind::Unknown, (WaitReason::Other, "", WaitTarget::None)),
        ] {
            assert_eq!(wait(number, arguments, file), expected);
        }
        assert_eq!(Wait::of_call(Machine::Unknown, 0, [0, 0], FileKind::Pipe), None);
    }

    #[test]
    fn each_reason_is_documented() {
        let rows = include_str!("../../../../docs/TASKS.md").lines();
        for reason in WaitReason::ALL {
            let begin = format!("| {} | ", reason.name());
            let row = rows.clone().find(|row| row.starts_with(&begin)).unwrap_or_else(|| panic!("{begin}"));
            assert_eq!(row.ends_with("| yes |"), reason.is_idle(), "{row}");
        }
    }

    #[test]
    fn the_reason_of_most_threads_is_first() {
        let row = |number, file| TaskRow {
            state: Some(b'S'),
            wait: Wait::of_call(Machine::X86_64, number, [3, 1], file),
            ..TaskRow::NONE
        };
        let events = row(232, FileKind::EventPoll);
        let pipe = row(0, FileKind::Pipe);
        let awake = TaskRow { state: Some(b'R'), ..TaskRow::NONE };
        let reasons = |rows: &[TaskRow]| -> Vec<(WaitReason, u32)> {
            Waits::of(rows.iter())
                .by_threads()
                .iter()
                .map(|(wait, threads)| (wait.reason, *threads))
                .collect()
        };
        assert_eq!(reasons(&[events, pipe]), [(WaitReason::Pipe, 1), (WaitReason::Events, 1)]);
        assert_eq!(reasons(&[events, pipe, events]), [(WaitReason::Events, 2), (WaitReason::Pipe, 1)]);
        let waits = Waits::of([awake, TaskRow::NONE, pipe].iter());
        assert_eq!((waits.awake, waits.unknown), (1, 1));
    }

    #[test]
    fn codes_that_are_none_are_refused() {
        for code in [0, 0xff, u64::MAX, 22] {
            assert_eq!(Wait::of_code(code), None, "{code}");
        }
        let unknown_call = Wait::of_code(0xfe01).unwrap();
        assert_eq!((unknown_call.reason, unknown_call.call), (WaitReason::Lock, None));
    }
}
