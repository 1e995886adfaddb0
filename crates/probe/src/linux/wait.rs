//! Waits for the next whole interval and for whatever else may happen meanwhile.

use std::io;

use facts::unit::Nanos;
use rustix::event::epoll;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::signals::{Signal, Signals};
use crate::clock::{clock_now, timespec};
pub use crate::watch::Watch;

/// How far ahead the sentinel is set: longer than any wait.
const FAR_AHEAD_S: u64 = 10 * 365 * 24 * 3600;
/// The tokens of what the waiter itself waits for; a caller's are smaller.
const SENTINEL: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;
/// Events that do not fit are returned by the next call.
const EVENTS_AT_A_TIME: usize = 32;

/// Waits with a timeout, for signals, for what was registered, and for the moment in which the clock that people see is
/// set or the machine wakes from a suspend: a timer that never ends is cancelled then (timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET).
///
/// By epoll(7): what does not happen is not looked at, which at one wake-up a second, with cold caches, is most of what
/// waiting costs.
pub struct Waiter {
    epoll: OwnedFd,
    sentinel: OwnedFd,
    signals: Signals,
    events: Vec<epoll::Event>,
    /// System calls made.
    pub calls: u64,
}

impl Waiter {
    /// From now on these signals come here, instead of what they would do.
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let mut waiter = Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            sentinel: timerfd_create(TimerfdClockId::Realtime, flags)?,
            signals: Signals::open(signals)?,
            events: Vec::with_capacity(EVENTS_AT_A_TIME),
            calls: 0,
        };
        waiter.arm()?;
        add(&waiter.epoll, waiter.sentinel.as_fd(), SENTINEL, epoll::EventFlags::IN)?;
        add(&waiter.epoll, waiter.signals.as_fd(), SIGNALS, epoll::EventFlags::IN)?;
        Ok(waiter)
    }

    /// Adds a descriptor until it is closed; its events have this token.
    ///
    /// # Errors
    /// If the kernel has no room for it.
    pub fn watch(&mut self, token: u64, watch: Watch<'_>) -> io::Result<()> {
        self.calls += 1;
        let flags = match watch {
            Watch::Readable(_) => epoll::EventFlags::IN,
            Watch::ReadableOnce(_) => epoll::EventFlags::IN | epoll::EventFlags::ONESHOT,
            Watch::Writable(_) => epoll::EventFlags::OUT,
            // Errors and hang-ups are always reported.
            Watch::Abandoned(_) => epoll::EventFlags::empty(),
        };
        if let Watch::ReadableOnce(descriptor) = watch {
            let data = epoll::EventData::new_u64(token);
            match epoll::modify(&self.epoll, descriptor, data, flags) {
                Err(Errno::NOENT) => self.calls += 1,
                modified => return Ok(modified?),
            }
        }
        add(&self.epoll, watch.descriptor(), token, flags)
    }

    /// No longer waits for it.
    pub fn forget(&mut self, watch: Watch<'_>) {
        self.calls += 1;
        // One that could not be watched need not be forgotten.
        let _ = epoll::delete(&self.epoll, watch.descriptor());
    }

    /// Waits until `deadline` on the real-time clock, a signal, or something that was registered, whose tokens `ready`
    /// has then. It may also return without any of them.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn wait(&mut self, deadline: Option<Nanos>, ready: &mut Vec<u64>) -> io::Result<()> {
        ready.clear();
        self.events.clear();
        let timeout = deadline.map(|deadline| timespec(deadline.saturating_sub(clock_now().realtime)));
        self.calls += 1;
        let room = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, room, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut was_clock_set = false;
        for event in &self.events {
            match event.data.u64() {
                SENTINEL => was_clock_set = true,
                SIGNALS => self.signals.has_some = true,
                token => ready.push(token),
            }
        }
        if was_clock_set {
            self.arm()?;
        }
        Ok(())
    }

    /// The next signal that came.
    pub fn next_signal(&mut self) -> Option<Signal> {
        if !self.signals.has_some {
            return None;
        }
        self.calls += 1;
        let signal = self.signals.next();
        self.signals.has_some = signal.is_some();
        signal
    }

    fn arm(&mut self) -> io::Result<()> {
        self.calls += 1;
        let ahead = Nanos(clock_now().realtime.0.saturating_add(FAR_AHEAD_S * Nanos::SECOND.0));
        let once = Itimerspec { it_interval: timespec(Nanos(0)), it_value: timespec(ahead) };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        match timerfd_settime(&self.sentinel, flags, &once) {
            // Told that the clock was set since it was armed last: that is taken notice of, and it is armed.
            Ok(_) | Err(Errno::CANCELED) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn add(epoll: &OwnedFd, descriptor: BorrowedFd<'_>, token: u64, flags: epoll::EventFlags) -> io::Result<()> {
    match epoll::add(epoll, descriptor, epoll::EventData::new_u64(token), flags) {
        // A regular file never blocks; a descriptor that is registered already stays as it is.
        Ok(()) | Err(Errno::PERM | Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
