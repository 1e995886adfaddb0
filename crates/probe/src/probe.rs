//! A machine that is sampled.

use facts::rate::Width;
use facts::sample::Sample;
use rustix::fd::BorrowedFd;

#[cfg(target_os = "linux")]
use crate::linux::Machine as LinuxMachine;
use crate::request::Request;
use crate::roots::{RootError, Roots, System};
use crate::sysctl::machine::Machine as FreeBsdMachine;

/// An open machine.
#[derive(Debug)]
pub struct Probe {
    machine: Machine,
}

#[derive(Debug)]
enum Machine {
    #[cfg(target_os = "linux")]
    Linux(Box<LinuxMachine>),
    FreeBsd(FreeBsdMachine),
}

impl Probe {
    /// Opens what is asked for. What the machine lacks is no error: its readings say so.
    ///
    /// # Errors
    /// If the roots themselves cannot be opened; the message names the directory.
    pub fn open(roots: &Roots, request: &Request) -> Result<Self, RootError> {
        let machine = match roots.system()? {
            #[cfg(target_os = "linux")]
            System::Linux => Machine::Linux(Box::new(LinuxMachine::open(roots, request)?)),
            System::FreeBsd => Machine::FreeBsd(FreeBsdMachine::open(roots, request)?),
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
        of_system!(Machine, &mut self.machine, machine => machine.drain_events());
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
