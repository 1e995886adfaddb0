//! Standard output that does not block.

use std::cell::Cell;
use std::io;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec, write};
use rustix::net::{SendFlags, send};
use rustix::stdio::stdout;
use rustix::termios::isatty;

/// Written to without waiting. The terminal or pipe itself stays as it is for all other processes: what is not to wait is a
/// description of our own.
#[derive(Debug)]
pub struct Outlet {
    kind: Kind,
    calls: Cell<u64>,
}

#[derive(Debug)]
enum Kind {
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
        Self { kind: Kind::of_stdout(), calls: Cell::new(0) }
    }

    /// System calls made to write.
    pub fn calls(&self) -> u64 {
        self.calls.get()
    }

    /// Writes as much as the reader accepts without blocking. Returns the number of bytes.
    ///
    /// # Errors
    /// Returns the error of write(2), except EAGAIN.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < bytes.len() {
            self.calls.set(self.calls.get() + 1);
            match self.kind.write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(written)
    }
}

impl Kind {
    fn of_stdout() -> Self {
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

    fn write(&self, bytes: &[u8]) -> rustix::io::Result<usize> {
        match self {
            Self::Reopened(descriptor) => write(descriptor, bytes),
            Self::Socket(socket) => send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
            Self::Plain => write(stdout(), bytes),
        }
    }
}

impl AsFd for Outlet {
    /// Returns the descriptor that becomes writable when the reader has read.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Reopened(descriptor) | Kind::Socket(descriptor) => descriptor.as_fd(),
            Kind::Plain => stdout(),
        }
    }
}
