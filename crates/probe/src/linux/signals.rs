//! Signals as something to read, beside the other descriptors that a command waits for.

use std::io;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::sys::{default_action, signal_descriptor};

/// A signal that a command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// Asked to end.
    Terminate,
    /// A child ended.
    Child,
}

/// Receives signals in place of their default actions.
#[derive(Debug)]
pub struct Signals {
    descriptor: OwnedFd,
}

/// Has children that end kept until they are waited for, also where whoever started whit had them dropped.
pub fn keep_children() {
    default_action(libc::SIGCHLD);
}

impl Signals {
    /// From now on [`Signal`]s arrive here. A child that is started later would inherit that they are blocked: start it
    /// first, after [`keep_children`], and look whether it has ended before waiting for the first signal.
    ///
    /// # Errors
    /// Where the kernel has no more descriptors.
    pub fn open() -> io::Result<Self> {
        let descriptor = signal_descriptor(&[libc::SIGINT, libc::SIGTERM, libc::SIGCHLD])?;
        Ok(Self { descriptor })
    }

    /// The next that has come, without waiting.
    pub fn next(&self) -> Option<Signal> {
        // struct signalfd_siginfo is 128 bytes and starts with the number.
        let mut info = [0u8; 128];
        loop {
            let read = rustix::io::read(&self.descriptor, &mut info).ok()?;
            let number = i32::from_ne_bytes(*info[..read].first_chunk()?);
            match number {
                libc::SIGINT => return Some(Signal::Interrupt),
                libc::SIGTERM => return Some(Signal::Terminate),
                libc::SIGCHLD => return Some(Signal::Child),
                _ => {}
            }
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
