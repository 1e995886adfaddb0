//! whit: where a machine's time and memory go, for next to nothing.
//!
//! This crate has a folder for each command: the probe reads, `facts` says what the bytes mean, `text` writes it. No program is started to
//! read a value.

#![forbid(unsafe_code)]

mod age;
#[cfg(feature = "agent")]
mod agent;
mod agent_rows;
#[cfg(feature = "agent")]
mod alert;
mod bar;
#[cfg(feature = "bench")]
mod bench;
#[cfg(feature = "agent")]
mod check;
mod command_line;
mod configuration;
mod delay_accounting;
mod delays;
#[cfg(feature = "agent")]
mod delivery;
mod doctor;
mod document;
mod failure;
#[cfg(feature = "feeds")]
mod feeds;
mod free;
#[cfg(feature = "agent")]
mod history;
#[cfg(feature = "agent")]
mod instant;
#[cfg(feature = "agent")]
mod mark;
mod new_file;
mod output;
mod pages;
#[cfg(feature = "agent")]
mod past;
#[cfg(not(feature = "agent"))]
#[path = "no_past.rs"]
mod past;
mod paths;
#[cfg(feature = "agent")]
mod plot;
mod pressure_fields;
mod progress;
#[cfg(feature = "agent")]
mod query;
#[cfg(feature = "agent")]
mod relabel;
mod run;
mod task_fields;
mod time_zone;
mod top;
#[cfg(feature = "traffic")]
mod traffic;
#[cfg(feature = "agent")]
mod why;

use std::process::ExitCode;

use command_line::Action;
use failure::Failure;

fn main() -> ExitCode {
    // Before anything is opened and any thread made.
    if let Err(error) = probe::privilege::lay_down() {
        return Failure::new(format!("its capabilities cannot be laid down: {error}")).report();
    }
    let done = command_line::parse().and_then(|action| match action {
        Action::Bar(args) => bar::command::run(&args),
        Action::Free(args) => free::run(&args),
        Action::Delays(args) => delays::command::run(&args),
        Action::Run(options) => run::run(&options),
        Action::Top(options) => top::run(&options),
        Action::Age(options) => age::run(&options),
        #[cfg(feature = "traffic")]
        Action::Sink(options) => traffic::sink::run(&options),
        #[cfg(feature = "bench")]
        Action::Bench(options) => bench::run(&options),
        #[cfg(feature = "traffic")]
        Action::Send(options) => traffic::send::run(&options),
        #[cfg(feature = "agent")]
        Action::Agent(options) => agent::run(&options),
        #[cfg(feature = "agent")]
        Action::Alert(args) => alert::run(&args),
        #[cfg(feature = "agent")]
        Action::Check(args) => check::run(&args),
        #[cfg(feature = "feeds")]
        Action::Feeds(args) => feeds::run(&args),
        #[cfg(feature = "agent")]
        Action::History(args) => history::run(&args),
        #[cfg(feature = "agent")]
        Action::Relabel(command) => relabel::run(&command),
        #[cfg(feature = "agent")]
        Action::Mark(args) => mark::run(&args),
        #[cfg(feature = "agent")]
        Action::Query(args) => query::run(&args),
        #[cfg(feature = "agent")]
        Action::Plot(args) => plot::run(&args),
        #[cfg(feature = "agent")]
        Action::Why(args) => why::run(&args),
        Action::Doctor(args) => doctor::command::run(&args),
        Action::Man { directory } => pages::man(directory.as_deref()),
        Action::Grammar => pages::grammar(),
        Action::Completions(shell) => pages::completions(shell),
    });
    done.unwrap_or_else(|failure| failure.report())
}
