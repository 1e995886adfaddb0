//! Reads the kernel.
//!
//! The only crate with `cfg(target_os)`, and with `unsafe`, all of which is in `sys.rs`. A view says what it wants;
//! [`Probe::open`] opens just that, once; [`Probe::sample`] reads it again and again into memory that the caller
//! keeps. Tasks are read by [`tasks::TaskReader`].

pub mod errand;
#[cfg(target_os = "linux")]
mod linux;
pub mod mailbox;
pub mod paths;
pub mod roots;
pub mod spawn;
mod sys;

#[cfg(target_os = "linux")]
pub use linux::survey::ancestors;
#[cfg(target_os = "linux")]
pub use linux::{cgroup_tasks, cgroup_usage, exits, signals, survey, tasks, wait};

use std::path::PathBuf;

use errand::Bell;
use facts::rate::Width;
use facts::sample::{Clock, Sample};
use facts::source::Wanted;
use facts::unit::Nanos;

pub use roots::Roots;
use rustix::fd::BorrowedFd;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the views of one run ask for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which parts of a sample to fill.
    pub wanted: Wanted,
    /// Whose filesystems to ask for their space; empty for all that store files.
    pub filesystems: Vec<PathBuf>,
    /// Of the temperatures only the CPUs' own, and of those only the packages' where there are such: each costs a call.
    pub cpu_temperatures_only: bool,
    /// Of memory only what is there in all, free and available.
    pub available_memory_only: bool,
    /// Rung when a filesystem that was slow to answer has done so; [`Probe::collect`] then has it. Whoever gives one also
    /// waits for [`Probe::watch`].
    pub bell: Option<Bell>,
}

/// An open machine.
#[derive(Debug)]
pub struct Probe {
    machine: linux::Machine,
}

impl Probe {
    /// Opens what is asked for. What the machine lacks is no error: its readings say so.
    ///
    /// # Errors
    /// Where the roots themselves cannot be opened; the message names the directory.
    pub fn open(roots: &Roots, request: &Request) -> Result<Self, roots::RootError> {
        Ok(Self { machine: linux::Machine::open(roots, request)? })
    }

    /// Reads everything that was asked for. After the first call this allocates nothing and opens nothing, unless a
    /// device appeared.
    pub fn sample(&mut self, sample: &mut Sample) {
        self.machine.sample(sample);
    }

    /// Takes what slow filesystems have answered since, without asking anything again.
    pub fn collect(&mut self, sample: &mut Sample) {
        self.machine.collect(sample);
    }

    /// Readable when [`hear`](Self::hear) has something to take; none where nobody promised to wait for it (by a bell)
    /// or nothing is ever told.
    pub fn watch(&self) -> Option<BorrowedFd<'_>> {
        self.machine.watch()
    }

    /// Takes news of the network, so that the next sample looks at it again; without any it is looked at now and then.
    pub fn hear(&mut self) {
        self.machine.hear();
    }

    /// System calls made for sampling so far, by whit's own count.
    pub fn system_calls(&self) -> u64 {
        self.machine.system_calls()
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

/// Has the kernel provide the memory that a vector has reserved, all at once where that is much: a fault for each page
/// costs more than all else that a row of a long table does.
pub fn populate<T>(vector: &mut Vec<T>) {
    sys::populate(vector.spare_capacity_mut());
}

/// The three clocks, without a system call.
pub fn clock_now() -> Clock {
    Clock {
        monotonic: sys::clock(libc::CLOCK_MONOTONIC),
        boottime: sys::clock(libc::CLOCK_BOOTTIME),
        realtime: sys::clock(libc::CLOCK_REALTIME),
    }
}

/// CPU time that whit has used so far, all threads. A system call.
pub fn own_cpu_time() -> Nanos {
    sys::clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}
