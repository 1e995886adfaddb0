//! whit: where a machine's time and memory go, for next to nothing.
//!
//! This crate is where the rooms meet: the probe reads, facts say what it means, show says it to people.

#![forbid(unsafe_code)]

mod age;
mod args;
mod bar;
mod bench;
mod cmd;
mod delays;
mod doctor;
mod failure;
mod memory_reader;
mod new_file;
mod output;
mod paths;
mod random;
mod run;
mod show;
mod ticker;
mod time_zone;
mod top;
mod traffic;
mod users;

use std::process::ExitCode;

use args::Action;
use failure::Failure;

fn main() -> ExitCode {
    // Before anything is opened and any thread made.
    if let Err(error) = probe::privilege::lay_down() {
        return Failure::new(format!("its capabilities cannot be laid down: {error}")).report();
    }
    let done = args::parse().and_then(|action| match action {
        Action::Bar(args) => cmd::bar::run(&args),
        Action::Free(args) => cmd::free::run(&args),
        Action::Delays(args) => cmd::delays::run(&args),
        Action::Run(options) => run::run(&options),
        Action::Top(options) => top::run(&options),
        Action::Age(options) => age::run(&options),
        Action::Sink(options) => traffic::sink::run(&options),
        Action::Bench(options) => bench::run(&options),
        Action::Send(options) => traffic::send::run(&options),
        Action::Doctor(args) => cmd::doctor::run(&args),
        Action::Man { directory } => cmd::pages::man(directory.as_deref()),
        Action::Completions(shell) => cmd::pages::completions(shell),
    });
    done.unwrap_or_else(|failure| failure.report())
}
