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
    /// SIGHUP: read the configuration again.
    Hangup,
    /// SIGUSR1: draw now.
    Redraw,
    /// SIGTSTP: nobody looks.
    Stop,
    /// SIGCONT: somebody looks again.
    Continue,
}

impl Signal {
    const NUMBERS: [(Self, i32); 7] = [
        (Self::Interrupt, libc::SIGINT),
        (Self::Terminate, libc::SIGTERM),
        (Self::Child, libc::SIGCHLD),
        (Self::Hangup, libc::SIGHUP),
        (Self::Redraw, libc::SIGUSR1),
        (Self::Stop, libc::SIGTSTP),
        (Self::Continue, libc::SIGCONT),
    ];

    /// Its number on this system.
    pub fn number(self) -> i32 {
        Self::NUMBERS.iter().find(|(signal, _)| *signal == self).map_or(0, |(_, number)| *number)
    }

    fn of(number: i32) -> Option<Self> {
        Self::NUMBERS.iter().find(|(_, known)| *known == number).map(|(signal, _)| *signal)
    }
}

/// Receives signals in place of their default actions.
#[derive(Debug)]
pub struct Signals {
    descriptor: OwnedFd,
    /// Whether whoever waited was told that some have come.
    pub(super) has_some: bool,
}

/// Has children that end kept until they are waited for, also where whoever started whit had them dropped.
pub fn keep_children() {
    default_action(libc::SIGCHLD);
}

impl Signals {
    /// From now on these arrive here. A child that is started later would inherit that they are blocked: start it
    /// first, after [`keep_children`], and look whether it has ended before waiting for the first signal; or start it
    /// by [`crate::spawn`].
    ///
    /// # Errors
    /// Where the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        let numbers: Vec<i32> = signals.iter().map(|signal| signal.number()).collect();
        Ok(Self { descriptor: signal_descriptor(&numbers)?, has_some: false })
    }

    /// The next that has come, without waiting.
    pub fn next(&self) -> Option<Signal> {
        // struct signalfd_siginfo is 128 bytes and starts with the number.
        let mut info = [0u8; 128];
        loop {
            let read = rustix::io::read(&self.descriptor, &mut info).ok()?;
            if let Some(signal) = Signal::of(i32::from_ne_bytes(*info[..read].first_chunk()?)) {
                return Some(signal);
            }
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
