//! The recorder: one loop that samples the machine and its tasks, and appends ticks to a history.
//!
//! It parses nothing of others but what its server sends, which is bounded. Everything that is served runs in another process, with which
//! it exchanges [`messages`] over a [`link`](link::Link).

#![forbid(unsafe_code)]

mod alert_series;
mod budget;
mod container_series;
mod cpu_counters;
mod data_directory;
mod feed_series;
pub mod link;
mod machine_series;
mod maintenance;
pub mod messages;
mod now_file;
mod options;
mod own_marks;
mod own_series;
mod receiver_series;
mod recorded;
mod recorder;
mod registry;
mod run;
mod server_process;
mod service_manager;
mod stall;
mod task_series;

pub use data_directory::is_recorded_into;
pub use feed_series::FEED_SERIES;
pub use maintenance::{compact, import, verify_sums};
pub use options::{RecorderError, RecorderOptions};
pub use run::run;
