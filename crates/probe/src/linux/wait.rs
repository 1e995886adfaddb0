//! The event loop of the commands that wait for several things at once.

use std::io;
use std::mem::MaybeUninit;

use facts::unit::Nanos;
use rustix::event::epoll;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::signals::{Signal, Signals};
use crate::clock::{clock_now, timespec};
pub use crate::watch::{Ready, Received, Watch};

/// How far ahead the sentinel is set: longer than any wait.
const FAR_AHEAD_S: u64 = 10 * 365 * 24 * 3600;
/// The tokens of what the waiter itself waits for; a caller's are smaller.
const SENTINEL: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;
/// Longer waits need epoll_pwait2(2), of Linux 5.11.
const MAX_WAIT: Nanos = Nanos(i32::MAX as u64 * 1_000_000);
/// Something new to read, or the end of it.
const EDGES: epoll::EventFlags =
    epoll::EventFlags::IN.union(epoll::EventFlags::RDHUP).union(epoll::EventFlags::ET);
/// Events that do not fit are returned by the next call.
const EVENTS_AT_A_TIME: usize = 256;

/// The one event loop of whit's commands: waits with a timeout, for signals, and for descriptors.
///
/// By epoll(7): what does not happen is not looked at, which at one wake-up a second, with cold caches, is most of what
/// waiting costs.
pub struct Waiter {
    epoll: OwnedFd,
    /// A timer that never ends is cancelled when the real-time clock is set or the machine wakes from a suspend
    /// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
    sentinel: Option<OwnedFd>,
    signals: Signals,
    /// System calls made.
    pub calls: u64,
}

impl Waiter {
    /// From now on these signals come here, instead of what they would do.
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        let waiter = Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            sentinel: None,
            signals: Signals::open(signals)?,
            calls: 0,
        };
        add(&waiter.epoll, waiter.signals.as_fd(), SIGNALS, epoll::EventFlags::IN)?;
        Ok(waiter)
    }

    /// From now on also wakes when the real-time clock is set and when the machine wakes from a suspend.
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn watch_clock(&mut self) -> io::Result<()> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let sentinel = timerfd_create(TimerfdClockId::Realtime, flags)?;
        add(&self.epoll, sentinel.as_fd(), SENTINEL, epoll::EventFlags::IN)?;
        self.sentinel = Some(sentinel);
        self.arm_sentinel()
    }

    /// Adds a descriptor until it is closed; its events have this token.
    ///
    /// # Errors
    /// If the kernel has no room for it.
    pub fn watch(&mut self, token: u64, watch: Watch<'_>) -> io::Result<()> {
        self.calls += 1;
        let flags = match watch {
            Watch::Readable(_) => epoll::EventFlags::IN,
            Watch::Edges { with_room: false, .. } => EDGES,
            Watch::Edges { with_room: true, .. } => EDGES.union(epoll::EventFlags::OUT),
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

    /// Waits for a signal or for something that was registered, which is in `ready` then. Returns whether one of them came: it may also
    /// return without, after the timeout or before.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn wait(&mut self, timeout: Option<Nanos>, ready: &mut Vec<Ready>) -> io::Result<bool> {
        ready.clear();
        let mut timeout = timeout.map(|timeout| timespec(timeout.min(MAX_WAIT)));
        let mut room = [MaybeUninit::uninit(); EVENTS_AT_A_TIME];
        loop {
            self.calls += 1;
            match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
                Ok(([], _)) => return Ok(false),
                Ok((events, _)) => return self.sort(events, ready),
                // After SIGSTOP and SIGCONT, although the second can be read by now.
                Err(Errno::INTR) => timeout = Some(timespec(Nanos(0))),
                Err(error) => return Err(error.into()),
            }
        }
    }

    // Not within `wait`, where a tick without events would load it.
    #[inline(never)]
    fn sort(&mut self, events: &[epoll::Event], ready: &mut Vec<Ready>) -> io::Result<bool> {
        use epoll::EventFlags as Flags;
        let mut was_clock_set = false;
        for event in events {
            // They are packed.
            let (token, flags) = (event.data.u64(), event.flags);
            match token {
                SENTINEL => was_clock_set = true,
                SIGNALS => self.signals.has_some = true,
                token => ready.push(Ready {
                    token,
                    is_readable: flags.intersects(Flags::IN),
                    is_writable: flags.intersects(Flags::OUT),
                    is_closed: flags.intersects(Flags::HUP | Flags::RDHUP | Flags::ERR),
                }),
            }
        }
        if was_clock_set {
            self.arm_sentinel()?;
        }
        Ok(self.signals.has_some || !ready.is_empty())
    }

    /// Returns true if a signal came and was not taken.
    pub fn has_signal(&self) -> bool {
        self.signals.has_some
    }

    /// The next signal that came, without waiting.
    pub fn next_signal(&mut self) -> Option<Received> {
        if !self.signals.has_some {
            return None;
        }
        self.calls += 1;
        let received = self.signals.next_received();
        self.signals.has_some = received.is_some();
        received
    }

    fn arm_sentinel(&mut self) -> io::Result<()> {
        let Some(sentinel) = &self.sentinel else { return Ok(()) };
        self.calls += 1;
        let ahead = Nanos(clock_now().realtime.0.saturating_add(FAR_AHEAD_S * Nanos::SECOND.0));
        let once = Itimerspec { it_interval: timespec(Nanos(0)), it_value: timespec(ahead) };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        match timerfd_settime(sentinel, flags, &once) {
            // ECANCELED: the clock was set since the timer was armed last. It is armed now.
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
