//! `whit top`: all tasks, what each of them used and what it waited for, on a screen or as tables.

#![forbid(unsafe_code)]

mod arguments;
mod batch;
mod cells;
mod cgroup_json;
mod columns;
mod head;
mod lines;
mod machine;
mod notes;
mod options;
mod past;
mod past_place;
mod screen;
mod session;
mod settings;
mod waits;

use std::process::ExitCode;

use clap::ArgMatches;

use command::failure::Failure;
use options::{OutputKind, TopOptions};

pub use arguments::command;

/// Runs `whit top`.
///
/// # Errors
/// If the command line is wrong, or tasks cannot be read.
pub fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    show(&arguments::from_matches(matches)?)
}

/// Runs `whit top` without options: the screen, or one table if there is no terminal.
///
/// # Errors
/// If tasks cannot be read.
pub fn run_without_options() -> Result<ExitCode, Failure> {
    show(&arguments::plain()?)
}

/// Shows tasks until the command is ended.
fn show(options: &TopOptions) -> Result<ExitCode, Failure> {
    match options.output {
        OutputKind::Screen => screen::run(options),
        OutputKind::Text | OutputKind::Json => batch::run(options),
    }
}
