//! Waits for the next whole interval and for whatever else may happen meanwhile, by kqueue(2).

use std::collections::VecDeque;
use std::io;

use facts::unit::Nanos;
use rustix::fd::AsRawFd;

use super::signals::queue_of;
use crate::clock::clock_now;
use crate::signal::Signal;
use crate::sys::{Queue, QueueEvent};
pub use crate::watch::Watch;

/// FreeBSD does not report that the clock was set or that the machine was suspended: that is noticed at most this much later.
const LONGEST_WAIT: Nanos = Nanos(5_000_000_000);

/// Waits with a timeout, for signals, and for what was registered.
pub struct Waiter {
    queue: Queue,
    signals: VecDeque<Signal>,
    /// System calls made.
    pub calls: u64,
}

impl Waiter {
    /// From now on these signals come here, instead of what they would do.
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        Ok(Self { queue: queue_of(signals)?, signals: VecDeque::new(), calls: 0 })
    }

    /// Adds a descriptor until it is closed; its events have this token.
    ///
    /// # Errors
    /// If the kernel has no room for it.
    pub fn watch(&mut self, token: u64, watch: Watch<'_>) -> io::Result<()> {
        self.calls += 1;
        match self.queue.add(event(watch), token) {
            // What has no such events never keeps anybody waiting.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENODEV)) => Ok(()),
            added => added,
        }
    }

    /// No longer waits for it.
    pub fn forget(&mut self, watch: Watch<'_>) {
        self.calls += 1;
        // One that could not be watched need not be forgotten.
        let _ = self.queue.delete(event(watch));
    }

    /// Waits until `deadline` on the real-time clock, a signal, or something that was registered, whose tokens `ready`
    /// has then. It may also return without any of them.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn wait(&mut self, deadline: Option<Nanos>, ready: &mut Vec<u64>) -> io::Result<()> {
        ready.clear();
        let timeout =
            deadline.map(|deadline| deadline.saturating_sub(clock_now().realtime).min(LONGEST_WAIT));
        let signals = &mut self.signals;
        self.calls += 1;
        let waited = self.queue.wait(timeout, |event, token| match event {
            QueueEvent::Signal(number) => signals.extend(Signal::of(number)),
            QueueEvent::Readable(_) | QueueEvent::Abandoned(_) => ready.push(token),
        });
        match waited {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            waited => waited,
        }
    }

    /// The next signal that came.
    pub fn next_signal(&mut self) -> Option<Signal> {
        self.signals.pop_front()
    }
}

fn event(watch: Watch<'_>) -> QueueEvent {
    let descriptor = watch.descriptor().as_raw_fd();
    match watch {
        // Reported until it is read; Linux reports it once.
        Watch::Readable(_) | Watch::ReadableOnce(_) => QueueEvent::Readable(descriptor),
        // Not used here: an outlet blocks when it writes.
        Watch::Writable(_) | Watch::Abandoned(_) => QueueEvent::Abandoned(descriptor),
    }
}
