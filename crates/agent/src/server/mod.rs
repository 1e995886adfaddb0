//! The agent's second process: it answers requests and evaluates expressions.
//!
//! The recorder starts this process and sends it ticks over a socket pair. HTTP, the socket, alerts, checks, Livestatus and feeds run
//! here. The process drops its capabilities, runs at a lower priority and has a memory limit. If a request crashes it, the recorder
//! restarts it; no tick is lost.
//!
//! [`run`] is its loop, [`services`] the list of its parts ([`part`]), [`replica`] its copy of the recorder's last tick. The crate `recorder` has
//! the other end, and the messages.

mod confinement;
mod part;
mod parts;
mod replica;
mod run;
mod services;

pub use run::serve;
pub(crate) use services::is_any_enabled;
