//! Jobs that may hang in the kernel, run by a background thread, so that the caller never waits.
//!
//! The last result is kept until the next one arrives. If a new result is requested while the thread is busy, the last result is
//! marked as stale. Requests do not queue.

use std::fmt;
use std::io;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

/// Wakes an event loop when a background job has a result: a pipe that becomes readable.
#[derive(Clone, Debug)]
pub struct Notifier {
    ends: Arc<(OwnedFd, OwnedFd)>,
}

impl Notifier {
    /// Creates the pipe.
    ///
    /// # Errors
    /// Returns the error of pipe2(2): no file descriptors are left, for example.
    pub fn new() -> io::Result<Self> {
        let ends = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self { ends: Arc::new(ends) })
    }

    /// Wakes the event loop.
    pub fn notify(&self) {
        // If the pipe is full, it is readable already.
        let _ = rustix::io::write(&self.ends.1, b"!");
    }

    /// Removes up to 64 notifications from the pipe, with one read(2). If there were more, the pipe stays readable.
    pub fn drain(&self) {
        let mut rings = [0; 64];
        while matches!(rustix::io::read(&self.ends.0, &mut rings), Err(Errno::INTR)) {}
    }
}

impl AsFd for Notifier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ends.0.as_fd()
    }
}

/// A thread that runs one job on request. It ends when this is dropped or, if it hangs in the kernel, with the process.
pub struct BackgroundJob<T> {
    wake: SyncSender<()>,
    slot: Arc<Mutex<Slot<T>>>,
}

#[derive(Debug)]
struct Slot<T> {
    result: Option<T>,
    is_busy: bool,
    is_stale: bool,
}

/// Small, since jobs only make system calls.
const STACK_BYTES: usize = 128 * 1024;

impl<T: Send + 'static> BackgroundJob<T> {
    /// Starts the thread, which waits for the first request.
    pub fn start(
        name: &str,
        notifier: Option<Notifier>,
        mut job: impl FnMut() -> T + Send + 'static,
    ) -> Self {
        let (wake, woken) = sync_channel(1);
        let slot = Arc::new(Mutex::new(Slot { result: None, is_busy: false, is_stale: false }));
        let shared = Arc::clone(&slot);
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        let made = builder.spawn(move || {
            while woken.recv().is_ok() {
                let result = job();
                *lock(&shared) = Slot { result: Some(result), is_busy: false, is_stale: false };
                notifier.iter().for_each(Notifier::notify);
            }
        });
        // If no thread could be made, the channel is closed, and `request` marks the result as stale.
        drop(made);
        Self { wake, slot }
    }

    /// Requests a new result. If the thread is busy, marks the last result as stale.
    pub fn request(&self) {
        let mut slot = lock(&self.slot);
        if slot.is_busy {
            slot.is_stale = true;
            return;
        }
        slot.is_busy = true;
        if let Err(TrySendError::Disconnected(())) = self.wake.try_send(()) {
            slot.is_stale = true;
        }
    }

    /// Returns whether a result is still to come.
    pub fn is_busy(&self) -> bool {
        lock(&self.slot).is_busy
    }

    /// Passes the last result to a function (`None` if there is none yet), and whether it is stale.
    pub fn with_result<R>(&self, read: impl FnOnce(Option<&T>, bool) -> R) -> R {
        let slot = lock(&self.slot);
        read(slot.result.as_ref(), slot.is_stale)
    }
}

impl<T> Clone for BackgroundJob<T> {
    /// Shares the thread.
    fn clone(&self) -> Self {
        Self { wake: self.wake.clone(), slot: Arc::clone(&self.slot) }
    }
}

impl<T: fmt::Debug> fmt::Debug for BackgroundJob<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackgroundJob").field("slot", &*lock(&self.slot)).finish()
    }
}

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};
    use std::sync::mpsc::channel;

    #[test]
    fn a_result_notifies_and_a_late_one_is_stale() {
        let notifier = Notifier::new().unwrap();
        let (let_go, gate) = channel();
        let mut count = 0;
        let job = BackgroundJob::start("test", Some(notifier.clone()), move || {
            gate.recv().unwrap();
            count += 1;
            count
        });
        let seen = || job.with_result(|result, is_stale| (result.copied(), is_stale));
        let wait = || {
            poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None).unwrap();
            notifier.drain();
        };
        job.request();
        assert_eq!(seen(), (None, false));
        let_go.send(()).unwrap();
        wait();
        assert_eq!(seen(), (Some(1), false));
        job.request();
        job.request();
        assert_eq!(seen(), (Some(1), true));
        let_go.send(()).unwrap();
        wait();
        assert_eq!(seen(), (Some(2), false));
    }
}
