//! The recorder that is always on: a loop over `sampling`, a history in `store`.
//!
//! No other command starts any part of it.

#![forbid(unsafe_code)]

pub mod alert;
mod alert_series;
mod boards;
mod budget;
pub mod check;
#[cfg(feature = "feeds")]
mod feed_series;
mod frames;
mod http;
mod json_records;
mod livestatus;
mod log;
mod machine_series;
mod maintenance;
mod now_file;
mod options;
mod own_marks;
mod own_series;
mod place;
mod recorded;
mod recorder;
mod registry;
mod remote;
mod run;
mod server;
mod service;
mod socket;
mod state_changes;
mod task_series;
pub mod telling;
mod unix_socket;

pub use maintenance::{compact, import, verify_sums};
pub use options::{AgentError, AgentOptions, HttpOptions, Listen, Privileged};
pub use remote::{Asked, RemoteStore};
pub use run::run;
pub use server::serve;
pub use store::{Retention, Tier};
