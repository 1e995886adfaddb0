//! Runs plugins, in a process of its own that the agent starts: what a plugin leaves behind becomes its child, and when the agent is
//! killed it ends all of them.

mod client;
mod frames;
mod run;
mod server;

pub(crate) use client::Runner;
pub use frames::RunCost;
pub(crate) use frames::{Fate, Order, OrderUser, Report};
pub use server::run;
