//! Waits for the next whole interval and for whatever else may happen meanwhile.

use std::io;

use facts::unit::Nanos;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use super::signals::{Signal, Signals};

/// What else to wait for.
#[derive(Clone, Copy, Debug)]
pub enum Watch<'a> {
    /// Something to read, or its end.
    Readable(BorrowedFd<'a>),
    /// That nobody reads any more what is written here.
    Abandoned(BorrowedFd<'a>),
}

/// A timer on the clock that people see, and signals.
///
/// The timer ends early when that clock is set and when the machine wakes from a suspend (timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET): the line is drawn at once then.
#[derive(Debug)]
pub struct Waiter {
    timer: OwnedFd,
    signals: Signals,
    armed: Option<Nanos>,
    /// System calls made.
    pub calls: u64,
}

impl Waiter {
    /// From now on these signals come here, instead of what they would do.
    ///
    /// # Errors
    /// Where the kernel has no more descriptors.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
        Ok(Self { timer, signals: Signals::open(signals)?, armed: None, calls: 0 })
    }

    /// Waits until `deadline` on the real-time clock, a signal, or one of `watches`, whose places in `ready` are set
    /// then. It may also return without any of them.
    ///
    /// # Errors
    /// Where the kernel refuses to wait.
    pub fn wait(
        &mut self,
        deadline: Option<Nanos>,
        watches: &[Watch<'_>],
        ready: &mut Vec<bool>,
    ) -> io::Result<()> {
        if self.armed != deadline {
            self.arm(deadline)?;
        }
        let mut descriptors = Vec::with_capacity(watches.len() + 2);
        descriptors.push(PollFd::new(&self.timer, PollFlags::IN));
        descriptors.push(PollFd::new(&self.signals, PollFlags::IN));
        descriptors.extend(watches.iter().map(|watch| match watch {
            Watch::Readable(descriptor) => PollFd::from_borrowed_fd(*descriptor, PollFlags::IN),
            Watch::Abandoned(descriptor) => PollFd::from_borrowed_fd(*descriptor, PollFlags::empty()),
        }));
        self.calls += 1;
        match poll(&mut descriptors, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut happened = descriptors.iter().map(|descriptor| !descriptor.revents().is_empty());
        let (has_timer, has_signal) = (happened.next() == Some(true), happened.next() == Some(true));
        ready.clear();
        ready.extend(happened);
        if has_timer {
            // Setting it anew takes back that it has ended: it need not be read.
            self.armed = None;
        }
        self.signals.has_some = has_signal;
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

    fn arm(&mut self, deadline: Option<Nanos>) -> io::Result<()> {
        self.calls += 1;
        // All zeros disarm it.
        let nanos = deadline.map_or(0, |deadline| deadline.0.max(1));
        let value =
            Timespec { tv_sec: (nanos / Nanos::SECOND.0) as i64, tv_nsec: (nanos % Nanos::SECOND.0) as _ };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        match timerfd_settime(&self.timer, flags, &once) {
            // The clock was set since the timer was armed last: that is taken notice of, and it is armed.
            Ok(_) | Err(Errno::CANCELED) => {}
            Err(error) => return Err(error.into()),
        }
        self.armed = deadline;
        Ok(())
    }
}
