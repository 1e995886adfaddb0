//! What a thread of sink or send waits for: its sockets, a deadline, and the request to end.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use facts::unit::Nanos;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use probe::signals::{Signal, Signals};
use probe::{clock_now, timespec};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// Tokens that no socket has.
const TIMER: usize = usize::MAX;
const WAKER: usize = usize::MAX - 1;
const SIGNALS: usize = usize::MAX - 2;
/// Events of one wait.
const EVENTS: usize = 1024;

/// Told to all threads when it is time to end.
#[derive(Debug, Default)]
pub(super) struct Stop {
    is_requested: AtomicBool,
    /// Threads beside the first that still work.
    others: AtomicUsize,
    wakers: Mutex<Vec<Waker>>,
}

impl Stop {
    pub(super) fn tell(&self) {
        self.is_requested.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        for waker in self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // A thread that has ended needs no waking.
            let _ = waker.wake();
        }
    }

    pub(super) fn expect(&self, others: usize) {
        self.others.store(others, Ordering::Release);
    }

    /// One of the others has done its work.
    pub(super) fn leave(&self) {
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
    poll: Poll,
    events: Events,
    timer: OwnedFd,
    armed: Option<Nanos>,
    signals: Option<Signals>,
    stop: Arc<Stop>,
}

/// What became of a socket.
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
        let poll = Poll::new()?;
        // Of high resolution, which a timeout in milliseconds is not.
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        poll.registry().register(&mut SourceFd(&timer.as_raw_fd()), Token(TIMER), Interest::READABLE)?;
        let waker = Waker::new(poll.registry(), Token(WAKER))?;
        stop.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
        let signals = with_signals
            .then(|| Signals::open(&[Signal::Interrupt, Signal::Terminate, Signal::Hangup]))
            .transpose()?;
        if let Some(signals) = &signals {
            let descriptor = signals.as_fd().as_raw_fd();
            poll.registry().register(&mut SourceFd(&descriptor), Token(SIGNALS), Interest::READABLE)?;
        }
        Ok(Self { poll, events: Events::with_capacity(EVENTS), timer, armed: None, signals, stop })
    }

    pub(super) fn add(&self, socket: &impl AsFd, token: usize, is_writing: bool) -> io::Result<()> {
        let interest = if is_writing { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.poll.registry().register(&mut SourceFd(&socket.as_fd().as_raw_fd()), Token(token), interest)
    }

    /// Waits for something to happen, at most until then (of the monotonic clock). Not at all if it is time to end.
    pub(super) fn wait(&mut self, until: Option<Nanos>, happened: &mut Vec<Happened>) -> io::Result<()> {
        happened.clear();
        let now = until.map(|until| (until, clock_now().monotonic));
        let is_past = now.is_some_and(|(until, now)| until <= now);
        if let Some((until, _)) = now.filter(|_| !is_past)
            && self.armed != Some(until)
        {
            let once = Itimerspec { it_interval: timespec(Nanos(0)), it_value: timespec(until) };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
            self.armed = Some(until);
        }
        let timeout = (is_past || self.stop.is_requested()).then_some(std::time::Duration::ZERO);
        match self.poll.poll(&mut self.events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        for event in &self.events {
            match event.token().0 {
                // Reading it makes it quiet again.
                TIMER => {
                    let _ = rustix::io::read(&self.timer, &mut [0_u8; 8]);
                    self.armed = None;
                }
                WAKER => {}
                SIGNALS => {
                    if self.signals.as_ref().is_some_and(|signals| signals.next().is_some()) {
                        self.stop.tell();
                    }
                }
                token => happened.push(Happened {
                    token,
                    is_readable: event.is_readable(),
                    is_writable: event.is_writable(),
                    is_read_closed: event.is_read_closed() || event.is_error(),
                }),
            }
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

/// The sooner of two times, if any.
pub(super) fn sooner(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    [a, b].into_iter().flatten().min()
}
