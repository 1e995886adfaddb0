//! What can be waited for beside a time and a signal.

use rustix::fd::BorrowedFd;

/// What else to wait for.
#[derive(Clone, Copy, Debug)]
pub enum Watch<'a> {
    /// Something to read, or its end.
    Readable(BorrowedFd<'a>),
    /// That nobody reads any more what is written here.
    Abandoned(BorrowedFd<'a>),
}
