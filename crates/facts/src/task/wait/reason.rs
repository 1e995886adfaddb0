//! The reasons for which tasks sleep.

/// The reason for which a task sleeps. The order is part of the format of the history: new ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitReason {
    /// A futex: a mutex, a condition variable, the end of a thread.
    Lock,
    /// A lock of a file: flock(2), fcntl(2).
    FileLock,
    /// A file of a filesystem on a disk: its data, its directory, or that it is written.
    Disk,
    /// A filesystem that another process or another machine serves: FUSE, NFS.
    Filesystem,
    /// A pipe: that there is something in it, or room.
    Pipe,
    /// A socket whose other end is at loopback, or has the same address.
    LocalSocket,
    /// A socket whose other end has another address: elsewhere, or in a container here.
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
    /// A file that is looked for by its path, or one of a filesystem without a disk of its own.
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
