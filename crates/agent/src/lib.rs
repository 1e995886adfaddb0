//! The recorder that is always on: a loop over `sampling`, a history in `store`.
//!
//! Nothing of it is started by any other command.

#![forbid(unsafe_code)]

mod machine_series;
mod now_file;
mod recorder;

pub use recorder::{AgentError, AgentOptions, HISTORY, run};
