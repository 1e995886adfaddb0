//! The agent: the recorder, and the process that serves what it records. No other command starts any part of it.

#![forbid(unsafe_code)]

#[cfg(feature = "feeds")]
mod feed_counters;
mod http;
mod inspection;
mod options;
mod server;
mod shared_states;
mod socket;

pub use inspection::{inspect, run as run_inspector};
pub use options::{AgentOptions, HttpOptions, Listen};
pub use server::serve;
pub use service::Privileged;
pub use store::{Retention, Tier};

use recorder::{RecorderError, RecorderOptions};

/// Records until a signal ends it, and serves what is recorded. `reload` reads the configuration again, on SIGHUP; its error is what is
/// wrong with it.
///
/// # Errors
/// If it cannot start, or the history cannot be closed.
pub fn run(
    options: &AgentOptions,
    mut reload: impl FnMut() -> Result<AgentOptions, String>,
) -> Result<(), RecorderError> {
    recorder::run(&of_recorder(options), || reload().map(|new| of_recorder(&new)))
}

/// Without a server if nothing is to be served.
fn of_recorder(options: &AgentOptions) -> RecorderOptions {
    let server = options.recorder.server.clone().filter(|_| server::is_any_enabled(options));
    RecorderOptions { server, ..options.recorder.clone() }
}
