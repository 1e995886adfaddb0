//! Signals as something to read, beside the other descriptors that a command waits for.

use std::io;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

pub use crate::signal::{Signal, die_by, keep_children, name_of, stop};
use crate::sys::{signal_descriptor, unblock_signals};
use crate::watch::Received;

/// Receives signals in place of their default actions, which they have again when it is dropped: by the thread that opened it.
#[derive(Debug)]
pub struct Signals {
    descriptor: OwnedFd,
    /// The signals that it blocked.
    blocked: Vec<i32>,
    /// Another receives some of them beside it, and goes on to.
    is_nested: bool,
    /// The event loop was woken for pending signals.
    pub(super) has_some: bool,
}

impl Signals {
    /// From now on these arrive here. A child that is started later would inherit that they are blocked: start it
    /// first, after [`keep_children`], and look whether it has ended before waiting for the first signal; or start it
    /// by [`crate::spawn`].
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        let numbers: Vec<i32> = signals.iter().map(|signal| signal.number()).collect();
        let (descriptor, blocked) = signal_descriptor(&numbers)?;
        let is_nested = blocked.len() < numbers.len();
        Ok(Self { descriptor, blocked, is_nested, has_some: false })
    }

    /// Gives the signals their default actions again, also those that have come and were not taken.
    pub fn release(mut self) {
        self.is_nested = true;
    }

    /// The next that has come, without waiting.
    pub fn next(&self) -> Option<Signal> {
        self.next_received().map(|received| received.signal)
    }

    /// Returns the next signal that has come, and where it came from, without waiting.
    pub(super) fn next_received(&self) -> Option<Received> {
        // struct signalfd_siginfo is 128 bytes and starts with the number.
        let mut info = [0u8; 128];
        loop {
            let read = rustix::io::read(&self.descriptor, &mut info).ok()?;
            // Behind it an error number, then where it came from; what a process sent is not above zero.
            let origin = i32::from_ne_bytes(*info[8..].first_chunk()?);
            if let Some(signal) = Signal::of(i32::from_ne_bytes(*info[..read].first_chunk()?)) {
                return Some(Received { signal, is_from_kernel: origin > 0 });
            }
        }
    }
}

impl Drop for Signals {
    /// Discards signals that came and were not taken: they belong to what was going on then. Signals from now on end a process that
    /// waits for its reader. If another receives them, the signals that came are left to it.
    fn drop(&mut self) {
        while !self.is_nested && self.next().is_some() {}
        unblock_signals(&self.blocked);
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
