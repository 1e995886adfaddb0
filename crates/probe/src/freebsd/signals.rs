//! Signals as something to read, beside the other descriptors that a command waits for: a kqueue(2) of them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;

use facts::unit::Nanos;
use rustix::fd::{AsFd, BorrowedFd};

pub use crate::signal::{Signal, die_by, keep_children, name_of, stop};
use crate::sys::{Queue, QueueEvent, block_signals};

/// Receives signals in place of their default actions.
#[derive(Debug)]
pub struct Signals {
    queue: Queue,
    pending: RefCell<VecDeque<Signal>>,
}

impl Signals {
    /// From now on these arrive here. A child that is started later would inherit that they are blocked: start it
    /// first, after [`keep_children`], and look whether it has ended before waiting for the first signal; or start it
    /// by [`crate::spawn`].
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        Ok(Self { queue: queue_of(signals)?, pending: RefCell::default() })
    }

    /// Gives the signals their default actions again; here they stay blocked, as after it is dropped.
    pub fn release(self) {}

    /// The next that has come, without waiting.
    pub fn next(&self) -> Option<Signal> {
        let mut pending = self.pending.borrow_mut();
        if pending.is_empty() {
            // An error counts as no signal; the next call tries again.
            let _ = self.queue.wait(Some(Nanos(0)), |event, _, _| {
                if let QueueEvent::Signal(number) = event {
                    pending.extend(Signal::of(number));
                }
            });
        }
        pending.pop_front()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

/// A queue of these signals, which have no other effect from now on.
pub(super) fn queue_of(signals: &[Signal]) -> io::Result<Queue> {
    let numbers: Vec<i32> = signals.iter().map(|signal| signal.number()).collect();
    let queue = Queue::new()?;
    // They are added to the queue before they are blocked: a signal that comes in between is not lost.
    for number in &numbers {
        queue.add(QueueEvent::Signal(*number), 0)?;
    }
    block_signals(&numbers)?;
    Ok(queue)
}
