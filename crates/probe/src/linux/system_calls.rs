//! The system calls of the running machine.

use facts::linux::system_calls::Machine;

/// Says how they are numbered.
pub(super) const MACHINE: Machine = if cfg!(target_arch = "x86_64") {
    Machine::X86_64
} else if cfg!(target_arch = "aarch64") {
    Machine::Aarch64
} else {
    Machine::Unknown
};
