//! A task's account: time on a CPU, and time it was held up, by cause.

mod account;
pub mod bounds;
mod breakdown;
mod cause;
pub mod chain;
pub mod comm;
mod delay;
pub mod exit_record;
pub mod figure;
pub mod groups;
pub mod rounds;
pub(crate) mod row;
mod slots;
mod source;
pub mod store;
pub(crate) mod sum;
pub mod unrecorded;
pub mod wait;
pub mod waits;

use crate::unit::Nanos;
pub use account::TaskAccount;
pub use breakdown::{Remainder, TimeBreakdown};
pub use cause::Cause;
pub use delay::{Delay, Delays};
pub use row::TaskRow;
pub use source::TaskSource;
pub use sum::TaskSum;

/// The state of the kernel's delay accounting for a task (it always counts the run queue's delays).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// It does: a zero is a zero.
    On,
    /// It does not: every delay but the run queue's is absent.
    Off,
    /// The reader cannot distinguish a task that never waited from one that is older than the switch.
    #[default]
    Unsure,
}

/// One task for as long as it lives: a reused pid starts at another time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey {
    /// Task id (a process's is its leader's).
    pub pid: u32,
    /// Start on the reader's clock: to be compared with what the same reader gave.
    pub start: Nanos,
}

impl TaskKey {
    /// taskstats says how long a task has lived, so two readings place its start a little apart.
    const SAME_START: Nanos = Nanos(1_000_000_000);

    /// Returns true if both name one task. A pid comes back after a whole turn of the pid space, which takes longer than the
    /// tolerance.
    pub fn is_same(&self, other: &Self) -> bool {
        self.pid == other.pid && self.start.0.abs_diff(other.start.0) <= Self::SAME_START.0
    }
}
