//! Reads the kernel.
//!
//! The only crate with `cfg(target_os)`, and with `unsafe`, all of which is in `sys.rs`. A view says what it wants;
//! [`Probe::open`] opens just that, once; [`Probe::sample`] reads it again and again into memory that the caller
//! keeps. Tasks are read by [`tasks::TaskReader`].

/// Calls a method of the reader for the machine's system.
macro_rules! of_system {
    ($readers:ident, $value:expr, $reader:ident => $call:expr) => {
        match $value {
            #[cfg(target_os = "linux")]
            $readers::Linux($reader) => $call,
            $readers::FreeBsd($reader) => $call,
        }
    };
}

pub mod background_job;
pub mod capture;
mod directory_entry;
#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "linux")]
mod linux;
pub mod lock;
pub mod mailbox;
pub mod named;
pub mod outlet;
pub mod paths;
pub mod roots;
mod signal;
pub mod sockets;
mod space;
pub mod spawn;
pub mod survey;
mod sys;
mod sysctl;
pub mod task_detail;
mod task_source;
pub mod tasks;
mod watch;

// Each system has the same rooms: what one lacks is absent there, and says so.
#[cfg(target_os = "freebsd")]
use freebsd as system;
#[cfg(target_os = "linux")]
use linux as system;
pub use system::ancestors::ancestors;
pub use system::{
    cgroup_tasks, cgroup_usage, command_cgroup, control, descendants, directory, exits, orphans, privilege,
    process_events, signals, wait,
};

use std::path::PathBuf;
use std::time::Duration;

use background_job::Notifier;
use facts::rate::Width;
use facts::sample::{Clock, Sample};
use facts::source::Wanted;
use facts::unit::Nanos;

pub use roots::Roots;
use roots::System;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// What the views of one run ask for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which parts of a sample to fill.
    pub wanted: Wanted,
    /// Whose filesystems to ask for their space; empty for all that store files.
    pub filesystems: Vec<PathBuf>,
    /// Rung when a filesystem that was slow to answer has done so; [`Probe::collect`] then has it. Whoever gives one also
    /// waits for [`Probe::watch`].
    pub notifier: Option<Notifier>,
}

/// An open machine.
#[derive(Debug)]
pub struct Probe {
    machine: Machine,
}

#[derive(Debug)]
enum Machine {
    #[cfg(target_os = "linux")]
    Linux(Box<linux::Machine>),
    FreeBsd(sysctl::machine::Machine),
}

impl Probe {
    /// Opens what is asked for. What the machine lacks is no error: its readings say so.
    ///
    /// # Errors
    /// Where the roots themselves cannot be opened; the message names the directory.
    pub fn open(roots: &Roots, request: &Request) -> Result<Self, roots::RootError> {
        let machine = match roots.system()? {
            #[cfg(target_os = "linux")]
            System::Linux => Machine::Linux(Box::new(linux::Machine::open(roots, request)?)),
            System::FreeBsd => Machine::FreeBsd(sysctl::machine::Machine::open(roots, request)?),
        };
        Ok(Self { machine })
    }

    /// Reads everything that was asked for. After the first call this allocates nothing and opens nothing, unless a
    /// device appeared.
    pub fn sample(&mut self, sample: &mut Sample) {
        of_system!(Machine, &mut self.machine, machine => machine.sample(sample));
    }

    /// Takes what slow filesystems have answered since, without asking anything again.
    pub fn collect(&mut self, sample: &mut Sample) {
        of_system!(Machine, &mut self.machine, machine => machine.collect(sample));
    }

    /// Readable when [`drain_events`](Self::drain_events) has something to take; `None` if the request has no
    /// notifier or the system reports no changes.
    pub fn watch(&self) -> Option<BorrowedFd<'_>> {
        of_system!(Machine, &self.machine, machine => machine.watch())
    }

    /// Reads the changes of the network, so that the next sample reads it again. Without changes it is read now and then.
    pub fn drain_events(&mut self) {
        of_system!(Machine, &mut self.machine, machine => machine.drain());
    }

    /// System calls made for sampling so far, by whit's own count.
    pub fn system_calls(&self) -> u64 {
        of_system!(Machine, &self.machine, machine => machine.system_calls())
    }

    /// How wide this kernel keeps the counters that it prints as `unsigned long`.
    pub fn counter_width(&self) -> Width {
        if cfg!(target_pointer_width = "32") { Width::Bits32 } else { Width::Bits64 }
    }
}

/// Raises the limit of open descriptors as far as it may go: a machine with many devices wants many. Children would
/// inherit it, so this is for commands that have none.
pub fn raise_descriptor_limit() {
    let limits = getrlimit(Resource::Nofile);
    // Where it cannot be raised, what does not open says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, ..limits });
}

/// Has the kernel give this process memory by the page alone (prctl(2), PR_SET_THP_DISABLE, Linux 3.15): what is begun and
/// not used of a huge page is resident too. Children inherit it, so this is for commands that have none.
pub fn refuse_huge_pages() {
    // Where there are none to be refused, nothing is lost.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Has the kernel provide the memory that a vector has reserved, all at once where that is much: a fault for each page
/// costs more than all else that a row of a long table does.
pub fn populate<T>(vector: &mut Vec<T>) {
    sys::populate(vector.spare_capacity_mut());
}

/// The three clocks, without a system call.
pub fn clock_now() -> Clock {
    let [monotonic, boottime] = sys::CLOCKS_SINCE_BOOT;
    Clock {
        monotonic: sys::clock(monotonic),
        boottime: sys::clock(boottime),
        realtime: sys::clock(libc::CLOCK_REALTIME),
    }
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

/// CPU time that whit has used so far, all threads. A system call.
pub fn own_cpu_time() -> Nanos {
    sys::clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}
