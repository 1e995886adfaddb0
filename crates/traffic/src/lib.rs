//! `whit sink` and `whit send`: sockets under load, measured, for test environments.
//!
//! `event_loop` waits for edge-triggered events, a timerfd and a notifier. A sink lets Linux drop what it counts (MSG_TRUNC, SO_RCVLOWAT,
//! recvmmsg(2)); a sender lets the kernel split datagrams (UDP_SEGMENT) and measures up to the last answer.

#![forbid(unsafe_code)]

mod address;
mod agenda;
mod arguments;
mod event_loop;
mod http_body;
mod render;
mod send;
mod sink;
mod waits;

use std::process::ExitCode;

use clap::ArgMatches;
use command::failure::Failure;

pub use arguments::{send_command, sink_command};

/// Runs `whit sink`.
///
/// # Errors
/// If the command line is wrong, or the address cannot be listened to.
pub fn sink(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    sink::run(&arguments::sink_from_matches(matches)?)
}

/// Runs `whit send`.
///
/// # Errors
/// If the command line is wrong, or the address does not accept connections.
pub fn send(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    send::run(&arguments::send_from_matches(matches)?)
}
