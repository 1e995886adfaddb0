//! The kinds of files that tasks wait for.

use super::reason::WaitReason;

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
    /// One of a filesystem without a disk of its own, or of whichever: a link in /proc does not say it.
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

    /// Its name, as open files are counted: kinds that are alike have one.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regular
            | Self::Directory
            | Self::Path
            | Self::UserspaceFilesystem
            | Self::RemoteFilesystem => "file",
            Self::BlockDevice | Self::Device => "device",
            Self::Terminal => "terminal",
            Self::Pipe => "pipe",
            Self::UnixSocket | Self::LoopbackSocket | Self::RemoteSocket | Self::OtherSocket => "socket",
            Self::EventPoll
            | Self::EventCounter
            | Self::Timer
            | Self::Signals
            | Self::Watches
            | Self::Ring => "event source",
            Self::Unknown | Self::Anonymous => "other",
        }
    }

    /// Returns the reason of a task that reads or writes it.
    pub(super) fn reason(self) -> WaitReason {
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
