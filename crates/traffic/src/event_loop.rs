//! The event loop of a thread of sink or send. It waits for its sockets, a deadline, and the request to end.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use facts::unit::Nanos;
use probe::background_job::Notifier;
use probe::signals::Signal;
use probe::wait::{Ready, Waiter, Watch};
use probe::{monotonic_now, timespec};
use rustix::fd::{AsFd, OwnedFd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// Tokens that no socket has.
const TIMER: u64 = 1 << 62;
const WAKER: u64 = TIMER + 1;

/// Signals that end the command.
const SIGNALS: [Signal; 3] = [Signal::Interrupt, Signal::Terminate, Signal::Hangup];

/// Shared by all threads of a command: the request to end.
#[derive(Debug, Default)]
pub(super) struct Stop {
    is_requested: AtomicBool,
    /// Threads beside the first that still work.
    others: AtomicUsize,
    wakers: Mutex<Vec<Notifier>>,
}

impl Stop {
    pub(super) fn request(&self) {
        self.is_requested.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        for waker in self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker.notify();
        }
    }

    pub(super) fn set_others(&self, others: usize) {
        self.others.store(others, Ordering::Release);
    }

    /// One of the others has done its work.
    pub(super) fn worker_ended(&self) {
        self.others.fetch_sub(1, Ordering::AcqRel);
        self.wake();
    }

    pub(super) fn has_others(&self) -> bool {
        self.others.load(Ordering::Acquire) > 0
    }

    pub(super) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Acquire)
    }
}

/// One thread's.
pub(super) struct EventLoop {
    waiter: Waiter,
    waker: Notifier,
    ready: Vec<Ready>,
    timer: OwnedFd,
    armed: Option<Nanos>,
    stop: Arc<Stop>,
}

/// The event of a socket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happened {
    pub(super) token: usize,
    pub(super) is_readable: bool,
    pub(super) is_writable: bool,
    /// Nothing more will come but what waits.
    pub(super) is_read_closed: bool,
}

impl EventLoop {
    /// One thread receives the signals that end the command; it must be made before the others begin.
    pub(super) fn new(stop: Arc<Stop>, with_signals: bool) -> io::Result<Self> {
        let signals = if with_signals { &SIGNALS[..] } else { &[] };
        let mut waiter = Waiter::open(signals)?;
        // Of high resolution, which a timeout in milliseconds is not.
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        waiter.watch(TIMER, Watch::Readable(timer.as_fd()))?;
        let waker = Notifier::new()?;
        waiter.watch(WAKER, Watch::Readable(waker.as_fd()))?;
        stop.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker.clone());
        Ok(Self { waiter, waker, ready: Vec::new(), timer, armed: None, stop })
    }

    pub(super) fn add(&mut self, socket: &impl AsFd, token: usize, is_writing: bool) -> io::Result<()> {
        self.waiter.watch(token as u64, Watch::Edges { descriptor: socket.as_fd(), with_room: is_writing })
    }

    /// Waits for something to happen, at most until then (of the monotonic clock). Not at all if it is time to end.
    pub(super) fn wait(&mut self, until: Option<Nanos>, happened: &mut Vec<Happened>) -> io::Result<()> {
        happened.clear();
        let now = until.map(|until| (until, monotonic_now()));
        let is_past = now.is_some_and(|(until, now)| until <= now);
        if let Some((until, _)) = now.filter(|_| !is_past)
            && self.armed != Some(until)
        {
            let once = Itimerspec { it_interval: timespec(Nanos(0)), it_value: timespec(until) };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
            self.armed = Some(until);
        }
        let timeout = (is_past || self.stop.is_requested()).then_some(Nanos(0));
        self.waiter.wait(timeout, &mut self.ready)?;
        for ready in &self.ready {
            match ready.token {
                // Reading it makes it quiet again.
                TIMER => {
                    let _ = rustix::io::read(&self.timer, &mut [0_u8; 8]);
                    self.armed = None;
                }
                WAKER => self.waker.drain(),
                token => happened.push(Happened {
                    token: token as usize,
                    is_readable: ready.is_readable,
                    is_writable: ready.is_writable,
                    is_read_closed: ready.is_closed,
                }),
            }
        }
        while self.waiter.next_signal().is_some() {
            self.stop.request();
        }
        Ok(())
    }

    pub(super) fn is_stop_requested(&self) -> bool {
        self.stop.is_requested()
    }

    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }
}
