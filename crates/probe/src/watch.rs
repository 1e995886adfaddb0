//! What can be waited for beside a time and a signal.

use rustix::fd::BorrowedFd;

/// What else to wait for.
#[derive(Clone, Copy, Debug)]
pub enum Watch<'a> {
    /// Something to read, or its end.
    Readable(BorrowedFd<'a>),
    /// The same, reported once: it must be armed again.
    ReadableOnce(BorrowedFd<'a>),
    /// Room to write.
    Writable(BorrowedFd<'a>),
    /// That the reader has closed it.
    Abandoned(BorrowedFd<'a>),
}

impl<'a> Watch<'a> {
    /// What is waited for.
    pub(crate) fn descriptor(self) -> BorrowedFd<'a> {
        let (Self::Readable(descriptor)
        | Self::ReadableOnce(descriptor)
        | Self::Writable(descriptor)
        | Self::Abandoned(descriptor)) = self;
        descriptor
    }
}
