//! The code that the parts of a long-running process share: messages on standard error, frames between processes, files of states, Unix
//! sockets.

#![forbid(unsafe_code)]

pub mod frames;
mod log;
mod privileged;
pub mod state_file;
pub mod unix_socket;

pub use log::{Level, Log};
pub use privileged::Privileged;
