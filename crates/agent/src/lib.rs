//! The recorder that is always on: a loop over `sampling`, a history in `store`.
//!
//! No other command starts any part of it.

#![forbid(unsafe_code)]

mod alert_series;
mod budget;
mod data_directory;
#[cfg(feature = "feeds")]
mod feed_series;
mod http;
mod machine_series;
mod maintenance;
mod now_file;
mod options;
mod own_marks;
mod own_series;
mod recorded;
mod recorder;
mod registry;
mod remote;
mod run;
mod server;
mod service_manager;
mod shared_states;
mod socket;
mod task_series;

pub use maintenance::{compact, import, verify_sums};
pub use options::{AgentError, AgentOptions, HttpOptions, Listen};
pub use remote::{Asked, RemoteStore};
pub use run::run;
pub use server::serve;
pub use service::Privileged;
pub use store::{Retention, Tier};
