//! Standard output of somebody who has more to do than to wait for its reader.

use std::io;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec, write};
use rustix::net::{SendFlags, send};
use rustix::stdio::stdout;
use rustix::termios::isatty;

/// Written to without waiting. The terminal or pipe itself stays as it is for all others who have it: what is not to wait is a
/// description of our own.
#[derive(Debug)]
pub enum Outlet {
    /// A pipe or terminal, opened once more.
    Reopened(OwnedFd),
    /// A socket.
    Socket(OwnedFd),
    /// A file, or what cannot be opened once more: written to as ever.
    Plain,
}

impl Outlet {
    /// For standard output.
    pub fn stdout() -> Self {
        if !cfg!(target_os = "linux") {
            return Self::Plain;
        }
        let kind = fstat(stdout()).map(|found| FileType::from_raw_mode(found.st_mode));
        match kind {
            Ok(kind) if kind == FileType::Fifo || isatty(stdout()) => {
                let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
                open("/proc/self/fd/1", flags, Mode::empty()).map_or(Self::Plain, Self::Reopened)
            }
            Ok(FileType::Socket) => fcntl_dupfd_cloexec(stdout(), 3).map_or(Self::Plain, Self::Socket),
            _ => Self::Plain,
        }
    }

    /// Writes what its reader takes, and tells how much that was.
    ///
    /// # Errors
    /// `WouldBlock` where the reader takes nothing now, and what write(2) says.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let written = match self {
                Self::Reopened(descriptor) => write(descriptor, bytes),
                Self::Socket(socket) => send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
                Self::Plain => write(stdout(), bytes),
            };
            match written {
                Err(Errno::INTR) => {}
                written => return Ok(written?),
            }
        }
    }
}

impl AsFd for Outlet {
    /// What becomes writable when the reader has read.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Reopened(descriptor) | Self::Socket(descriptor) => descriptor.as_fd(),
            Self::Plain => stdout(),
        }
    }
}
