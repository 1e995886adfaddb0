//! Chains of waits: whom a sleeping task waits for, whom that one waits for, and so on to what explains itself.
//!
//! All of it is the state at one instant.

mod futex;
mod held_up;
mod hindrance;
mod now;
mod walk;

pub use futex::{LockHolder, WORDS, WORDS_BEFORE, holder};
pub use held_up::{HeldUp, Holdup};
pub use hindrance::Hindrance;
pub use now::{Activity, Awaited, Dependence, Object, ProcessNow, ThreadNow, WaitSource};
pub use walk::{Chain, End, Link, chain_of};
