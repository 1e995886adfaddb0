//! The event loop of the commands that wait for several things at once, by kqueue(2).

use std::collections::VecDeque;
use std::io;

use facts::unit::Nanos;
use rustix::fd::AsRawFd;

use super::signals::queue_of;
use crate::signal::Signal;
use crate::sys::{Queue, QueueEvent};
pub use crate::watch::{Ready, Received, Watch};

/// FreeBSD does not report that the clock was set or that the machine was suspended: that is noticed at most this much later.
const MAX_WAIT: Nanos = Nanos(5_000_000_000);

/// The one event loop of whit's commands: waits with a timeout, for signals, and for descriptors.
pub struct Waiter {
    queue: Queue,
    signals: VecDeque<Signal>,
    is_clock_watched: bool,
    /// Tokens of descriptors that are reported only when their other end is closed.
    only_closed: Vec<u64>,
    /// System calls made.
    pub calls: u64,
}

impl Waiter {
    /// From now on these signals come here, instead of what they would do.
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        Ok(Self {
            queue: queue_of(signals)?,
            signals: VecDeque::new(),
            is_clock_watched: false,
            only_closed: Vec::new(),
            calls: 0,
        })
    }

    /// From now on no wait is longer than [`MAX_WAIT`], so that it is noticed when the clock is set.
    ///
    /// # Errors
    /// Never: as on Linux.
    pub fn watch_clock(&mut self) -> io::Result<()> {
        self.is_clock_watched = true;
        Ok(())
    }

    /// Adds a descriptor until it is closed; its events have this token.
    ///
    /// # Errors
    /// If the kernel has no room for it.
    pub fn watch(&mut self, token: u64, watch: Watch<'_>) -> io::Result<()> {
        self.only_closed.retain(|known| *known != token);
        if matches!(watch, Watch::Abandoned(_)) {
            self.only_closed.push(token);
        }
        for event in events(watch).into_iter().flatten() {
            self.calls += 1;
            match self.queue.add(event, token) {
                // A descriptor without such events, a regular file for example, is always ready.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENODEV)) => {}
                added => added?,
            }
        }
        Ok(())
    }

    /// No longer waits for it.
    pub fn forget(&mut self, watch: Watch<'_>) {
        for event in events(watch).into_iter().flatten() {
            self.calls += 1;
            // One that could not be watched need not be forgotten.
            let _ = self.queue.delete(event);
        }
    }

    /// Waits for a signal or for something that was registered, which is in `ready` then. Returns whether one of them came: it may also
    /// return without, after the timeout or before.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn wait(&mut self, timeout: Option<Nanos>, ready: &mut Vec<Ready>) -> io::Result<bool> {
        ready.clear();
        let at_most = if self.is_clock_watched { MAX_WAIT } else { Nanos(u64::MAX) };
        let timeout = timeout.map(|timeout| timeout.min(at_most));
        match self.receive(timeout, ready) {
            // A signal may have come.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.receive(Some(Nanos(0)), ready)?
            }
            received => received?,
        }
        Ok(!self.signals.is_empty() || !ready.is_empty())
    }

    fn receive(&mut self, timeout: Option<Nanos>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let (signals, only_closed) = (&mut self.signals, &self.only_closed);
        self.calls += 1;
        self.queue.wait(timeout, |event, token, is_at_end| {
            let is_of_writing = matches!(event, QueueEvent::NewWritable(_));
            let is_abandoned = only_closed.contains(&token);
            match event {
                QueueEvent::Signal(number) => signals.extend(Signal::of(number)),
                QueueEvent::NewWritable(_) if is_abandoned && !is_at_end => {}
                _ => ready.push(Ready {
                    token,
                    is_readable: !is_of_writing,
                    is_writable: is_of_writing,
                    // A socket that whit itself does not write to any more is at its end for writing, and may still be read.
                    is_closed: is_at_end && (!is_of_writing || is_abandoned),
                }),
            }
        })
    }

    /// Returns true if a signal came and was not taken.
    pub fn has_signal(&self) -> bool {
        !self.signals.is_empty()
    }

    /// The next signal that came, without waiting.
    pub fn next_signal(&mut self) -> Option<Received> {
        let signal = self.signals.pop_front()?;
        // A queue does not say where it came from; these mostly come from the terminal.
        Some(Received { signal, is_from_kernel: matches!(signal, Signal::Interrupt | Signal::Quit) })
    }
}

fn events(watch: Watch<'_>) -> [Option<QueueEvent>; 2] {
    let descriptor = watch.descriptor().as_raw_fd();
    match watch {
        // Reported until it is read; Linux reports the second once.
        Watch::Readable(_) | Watch::ReadableOnce(_) => [Some(QueueEvent::Readable(descriptor)), None],
        Watch::Edges { with_room, .. } => [
            Some(QueueEvent::NewReadable(descriptor)),
            with_room.then_some(QueueEvent::NewWritable(descriptor)),
        ],
        // The second is reported with the end of the file.
        Watch::Writable(_) | Watch::Abandoned(_) => [Some(QueueEvent::NewWritable(descriptor)), None],
    }
}
