//! Runs plugins, in a process of its own that the agent starts: what a plugin leaves behind becomes its child, and when the agent is
//! killed it ends all of them.
//!
//! Unless root runs the agent, it has none of the recorder's capabilities but those that let plugins run as other users, which plugins do not
//! inherit. What plugins waited for is unknown then.

mod client;
mod frames;
mod run;
mod server;

pub use client::PrivilegedRunner;
pub(crate) use client::Runner;
pub use frames::RunCost;
pub(crate) use frames::{Fate, Order, OrderUser, Report};
pub use server::run;
