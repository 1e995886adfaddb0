//! The agent's second process: it answers requests and evaluates expressions.
//!
//! The recorder starts this process and sends it ticks over a socket pair. HTTP, the socket, alerts, checks, Livestatus and feeds run
//! here. The process drops its capabilities, runs at a lower priority and has a memory limit. If a request crashes it, the recorder
//! restarts it; no tick is lost.
//!
//! - [`process`] is the recorder's end: it starts the process, sends, and restarts it.
//! - [`run`] is the loop of the server, [`services`] the list of what it serves, [`replica`] its copy of the recorder's last tick.
//! - [`messages`] and [`link`] are the protocol between both, [`stall`] notices an end that does not read.

mod confinement;
mod link;
mod messages;
mod process;
mod replica;
mod run;
mod services;
mod stall;

pub(crate) use messages::ServerReport;
pub(crate) use process::{Latest, LatestTasks, ServerProcess};
pub use run::serve;
pub(crate) use services::is_any_enabled;
