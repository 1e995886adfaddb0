//! Work that can hang for ever, done by a thread of its own: the one who asks never waits.
//!
//! The last answer stands until the next comes. Whoever asks again while the thread is still out has nothing new: the
//! answer is stale then, and nothing piles up.

use std::fmt;
use std::io;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

/// Rung by threads whose answers are there; readable for whoever waits for them.
#[derive(Clone, Debug)]
pub struct Bell {
    ends: Arc<(OwnedFd, OwnedFd)>,
}

impl Bell {
    /// Makes one.
    ///
    /// # Errors
    /// Where there are no more descriptors.
    pub fn new() -> io::Result<Self> {
        let ends = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self { ends: Arc::new(ends) })
    }

    fn ring(&self) {
        // Full: it rings already.
        let _ = rustix::io::write(&self.ends.1, b"!");
    }

    /// Silences it. A system call.
    pub fn hear(&self) {
        let mut rings = [0; 64];
        while matches!(rustix::io::read(&self.ends.0, &mut rings), Err(Errno::INTR)) {}
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ends.0.as_fd()
    }
}

/// A thread that does one job whenever it is asked to. It ends with this, or, where it hangs in the kernel, with the
/// process.
pub struct Errand<T> {
    wake: SyncSender<()>,
    slot: Arc<Mutex<Slot<T>>>,
}

#[derive(Debug)]
struct Slot<T> {
    answer: Option<T>,
    is_out: bool,
    is_stale: bool,
}

/// Small: a job calls the kernel, and keeps what it needs on the heap.
const STACK_BYTES: usize = 128 * 1024;

impl<T: Send + 'static> Errand<T> {
    /// Starts the thread, which waits to be asked.
    pub fn start(name: &str, bell: Option<Bell>, mut job: impl FnMut() -> T + Send + 'static) -> Self {
        let (wake, woken) = sync_channel(1);
        let slot = Arc::new(Mutex::new(Slot { answer: None, is_out: false, is_stale: false }));
        let shared = Arc::clone(&slot);
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        let made = builder.spawn(move || {
            while woken.recv().is_ok() {
                let answer = job();
                *lock(&shared) = Slot { answer: Some(answer), is_out: false, is_stale: false };
                bell.iter().for_each(Bell::ring);
            }
        });
        // Without a thread the channel is closed, which shows when it is asked.
        drop(made);
        Self { wake, slot }
    }

    /// Has the job done once more, unless the thread is still out: then its last answer is stale.
    pub fn ask(&self) {
        let mut slot = lock(&self.slot);
        if slot.is_out {
            slot.is_stale = true;
            return;
        }
        slot.is_out = true;
        if let Err(TrySendError::Disconnected(())) = self.wake.try_send(()) {
            slot.is_stale = true;
        }
    }

    /// Looks at the last answer, none where none came yet, and whether it is stale.
    pub fn look<R>(&self, look: impl FnOnce(Option<&T>, bool) -> R) -> R {
        let slot = lock(&self.slot);
        look(slot.answer.as_ref(), slot.is_stale)
    }
}

impl<T> Clone for Errand<T> {
    /// The same thread.
    fn clone(&self) -> Self {
        Self { wake: self.wake.clone(), slot: Arc::clone(&self.slot) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Errand<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errand").field("slot", &*lock(&self.slot)).finish()
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
    fn an_answer_rings_and_one_that_does_not_come_is_stale() {
        let bell = Bell::new().unwrap();
        let (let_go, gate) = channel();
        let mut count = 0;
        let errand = Errand::start("test", Some(bell.clone()), move || {
            gate.recv().unwrap();
            count += 1;
            count
        });
        let seen = || errand.look(|answer, is_stale| (answer.copied(), is_stale));
        let wait = || {
            poll(&mut [PollFd::new(&bell, PollFlags::IN)], None).unwrap();
            bell.hear();
        };
        errand.ask();
        assert_eq!(seen(), (None, false));
        let_go.send(()).unwrap();
        wait();
        assert_eq!(seen(), (Some(1), false));
        errand.ask();
        errand.ask();
        assert_eq!(seen(), (Some(1), true));
        let_go.send(()).unwrap();
        wait();
        assert_eq!(seen(), (Some(2), false));
    }
}
