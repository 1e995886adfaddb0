//! The kernel's switch for delay accounting (`kernel.task_delayacct`): what it means that it is off, and the remedy.
//!
//! While it is off, the kernel keeps the counters that a task has and adds nothing to them. Therefore every source treats all tasks as
//! uncounted then.

use facts::sample::Absence;

use crate::failure::Failure;

/// A remedy for accounting that is off: what a user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Enable it by a command.
    Command,
    /// Enable it by a key, on the screen.
    Key,
    /// Ask an administrator.
    Administrator,
}

/// Explains the stroke of undivided time, and how the next tasks get theirs divided.
pub fn explain_off(remedy: Remedy) -> String {
    let remedy = match remedy {
        Remedy::Command => "Enable it with: whit delays --enable",
        Remedy::Key => "Press A to enable it",
        Remedy::Administrator => "Only root can enable it (sysctl kernel.task_delayacct=1)",
    };
    format!(
        "─ off CPU: waiting for a disk cannot be told from sleep, since delay accounting is off. {remedy}; \
         tasks that run already stay uncounted."
    )
}

/// The message after it was enabled, on what holds from then on.
pub const ENABLED: &str =
    "Delay accounting is on. Tasks that ran before stay uncounted (─ off CPU) until they are started again.";

/// Why it could not be enabled.
pub fn refused(absence: Absence) -> Failure {
    match absence {
        Absence::Denied => Failure::new("kernel.task_delayacct: only root may set it"),
        Absence::Unsupported => Failure::new(
            "kernel.task_delayacct: this kernel has no such switch (before 5.14 accounting is on unless it was booted with \
             nodelayacct)",
        ),
        absence => Failure::unreadable("/proc/sys/kernel/task_delayacct", absence),
    }
}
