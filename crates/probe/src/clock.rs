//! Clocks.

use std::time::Duration;

use facts::sample::Clock;
use facts::unit::Nanos;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

use crate::sys;

/// The three clocks, without a system call.
pub fn clock_now() -> Clock {
    let [monotonic, boottime] = sys::CLOCKS_SINCE_BOOT;
    Clock {
        monotonic: sys::clock(monotonic),
        boottime: sys::clock(boottime),
        realtime: sys::clock(libc::CLOCK_REALTIME),
    }
}

/// The clock that never goes back and stands still in sleep, without a system call, and without the price of the other two.
pub fn monotonic_now() -> Nanos {
    sys::clock(sys::CLOCKS_SINCE_BOOT[0])
}

/// Nanoseconds since 1970 on the clock that a kernel stamps files with, which goes by ticks: no file that is made after this call
/// is stamped with an earlier time.
pub fn file_clock_now() -> Nanos {
    sys::clock(sys::FILE_CLOCK)
}

/// Sleeps until a time on the boot clock: after a suspend that is over at once, and setting the time of day moves it
/// not.
pub fn sleep_until(until: Nanos) {
    #[cfg(target_os = "freebsd")]
    const CLOCK: ClockId = ClockId::Monotonic;
    #[cfg(not(target_os = "freebsd"))]
    const CLOCK: ClockId = ClockId::Boottime;
    loop {
        match clock_nanosleep_absolute(CLOCK, &timespec(until)) {
            Ok(()) => return,
            Err(Errno::INTR) => {}
            // A sandbox may refuse this clock; it must not become a loop without sleep.
            Err(_) => {
                let rest = until.saturating_sub(clock_now().boottime);
                return std::thread::sleep(Duration::from_nanos(rest.0));
            }
        }
    }
}

/// As poll(2), nanosleep(2) and timers take a time.
pub fn timespec(time: Nanos) -> Timespec {
    Timespec { tv_sec: (time.0 / Nanos::SECOND.0) as i64, tv_nsec: (time.0 % Nanos::SECOND.0) as _ }
}

/// CPU time that the calling thread has used so far. A system call.
pub fn own_thread_cpu_time() -> Nanos {
    sys::clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time that whit has used so far, all threads. A system call.
pub fn own_cpu_time() -> Nanos {
    sys::clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}
