//! The recorder that is always on: a loop over `sampling`, a history in `store`.
//!
//! No other command starts any part of it.

#![forbid(unsafe_code)]

pub mod alert;
mod alert_series;
pub mod answer;
mod budget;
mod http;
mod log;
mod machine_series;
mod maintenance;
mod now_file;
mod options;
mod own_series;
pub mod past;
mod place;
mod recorder;
mod registry;
mod remote;
mod run;
mod service;
mod socket;
mod unix_socket;
pub mod why;

pub use maintenance::{compact, import};
pub use options::{AgentError, AgentOptions, HttpOptions, Listen, Privileged};
pub use place::HISTORY;
pub use remote::{Asked, RemoteStore};
pub use run::run;
pub use store::{Retention, Tier};
