//! whit: where a machine's time and memory go, at very low cost.
//!
//! This crate has a folder for each command: the probe reads, `facts` says what the bytes mean, `text` writes it. No program is started to
//! read a value.

#![forbid(unsafe_code)]

#[cfg(feature = "agent")]
mod agent;
#[cfg(feature = "agent")]
mod alert;
#[cfg(feature = "agent")]
mod check;
mod command_line;
mod delays;
#[cfg(feature = "agent")]
mod delivery;
mod doctor;
#[cfg(feature = "feeds")]
mod feeds;
#[cfg(feature = "agent")]
mod fleet;
mod free;
#[cfg(feature = "agent")]
mod get;
#[cfg(feature = "agent")]
mod history;
#[cfg(feature = "agent")]
mod mark;
mod pages;
#[cfg(feature = "agent")]
mod plot;
#[cfg(feature = "agent")]
mod query;
#[cfg(feature = "agent")]
mod relabel;
mod run;
mod terms;
#[cfg(feature = "agent")]
mod why;

use std::process::ExitCode;

use command::failure::Failure;

fn main() -> ExitCode {
    // Before anything is opened and any thread made.
    if let Err(error) = probe::privilege::lay_down() {
        return Failure::new(format!("its capabilities cannot be laid down: {error}")).report();
    }
    command_line::run().unwrap_or_else(|failure| failure.report())
}
