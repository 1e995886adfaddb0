//! Descriptors that an event loop waits for beside a time and a signal, and the events on them.

use rustix::fd::BorrowedFd;

use crate::signal::Signal;

/// A descriptor to wait for, and its events.
#[derive(Clone, Copy, Debug)]
pub enum Watch<'a> {
    /// Something to read, or its end.
    Readable(BorrowedFd<'a>),
    /// Something to read, or its end, reported once: it must be armed again.
    ReadableOnce(BorrowedFd<'a>),
    /// Something new to read and, if requested, new room to write: reported once each time (edge-triggered), so that the caller reads and
    /// writes until nothing is left.
    Edges {
        /// A socket or the like.
        descriptor: BorrowedFd<'a>,
        /// Room to write is reported, too.
        with_room: bool,
    },
    /// Room to write.
    Writable(BorrowedFd<'a>),
    /// That the reader has closed it.
    Abandoned(BorrowedFd<'a>),
}

impl<'a> Watch<'a> {
    /// Returns the descriptor that is waited for.
    pub(crate) fn descriptor(self) -> BorrowedFd<'a> {
        let (Self::Readable(descriptor)
        | Self::ReadableOnce(descriptor)
        | Self::Edges { descriptor, .. }
        | Self::Writable(descriptor)
        | Self::Abandoned(descriptor)) = self;
        descriptor
    }
}

/// The events of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// As it was given to the waiter.
    pub token: u64,
    /// There is something to read, or its end.
    pub is_readable: bool,
    /// There is room to write.
    pub is_writable: bool,
    /// The other end is closed: nothing more will come than what waits already.
    pub is_closed: bool,
}

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Which.
    pub signal: Signal,
    /// The kernel sent it: the terminal, to a whole group, or a child that ended. On FreeBSD a guess by the signal.
    pub is_from_kernel: bool,
}
