//! The command line: one table, from which help, man pages and completions come too.
//!
//! What leaves this module is validated; a command never sees a raw argument.

mod age;
mod bar;
mod bench;
mod delays;
mod doctor;
mod free;
mod quantity;
mod run;
mod top;
mod traffic;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use probe::Roots;

pub(crate) use bar::{BarArgs, BarCommand, BarOutput};
pub(crate) use delays::{DelaysArgs, Selection, SortKey, View};
pub(crate) use doctor::DoctorArgs;
pub(crate) use free::FreeArgs;

use crate::failure::Failure;

/// What to do.
#[derive(Debug)]
pub(crate) enum Action {
    Bar(BarCommand),
    Free(FreeArgs),
    Delays(DelaysArgs),
    Top(crate::top::Options),
    Run(crate::run::Options),
    Age(crate::age::Options),
    Bench(crate::bench::Options),
    Sink(crate::traffic::sink::Options),
    Send(crate::traffic::send::Options),
    Doctor(DoctorArgs),
    Man { directory: Option<PathBuf> },
    Completions(Shell),
}

/// How often to repeat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repeat {
    /// None: once.
    pub(crate) interval: Option<Duration>,
    /// None: until ended.
    pub(crate) count: Option<u64>,
}

/// The whole table.
pub(crate) fn command() -> Command {
    Command::new("whit")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Tells where a machine's time and memory go, for next to nothing")
        .after_help("Each command says more: whit COMMAND --help. Without a command: whit top. What this machine gives: whit doctor.")
        .disable_help_subcommand(true)
        // A subcommand's options are built only when it is the one that is called: half of a short run's time.
        .subcommand(bar::command())
        .subcommand(free::command())
        .subcommand(delays::command())
        .subcommand(top::command())
        .subcommand(run::command())
        .subcommand(age::command())
        .subcommand(traffic::sink_command())
        .subcommand(traffic::send_command())
        .subcommand(bench::command())
        .subcommand(doctor::command())
        .subcommand(Command::new("man").about("Print the man page, or write one of each command").defer(
            |command| {
                command.arg(
                    Arg::new("directory")
                        .value_name("DIR")
                        .value_parser(value_parser!(PathBuf))
                        .help("Write whit.1, whit-free.1 … into DIR"),
                )
            },
        ))
        .subcommand(Command::new("completions").about("Print completions for a shell").defer(|command| {
            command.arg(Arg::new("shell").value_parser(value_parser!(Shell)).required(true).help("The shell"))
        }))
}

/// Reads the command line. clap prints help, version and usage errors itself, the last with exit status 2.
pub(crate) fn parse() -> Result<Action, Failure> {
    from_matches(&command().get_matches())
}

fn from_matches(matches: &ArgMatches) -> Result<Action, Failure> {
    match matches.subcommand() {
        Some(("bar", matches)) => bar::from_matches(matches).map(Action::Bar),
        Some(("free", matches)) => free::from_matches(matches).map(Action::Free),
        Some(("delays", matches)) => delays::from_matches(matches).map(Action::Delays),
        Some(("top", matches)) => top::from_matches(matches).map(Action::Top),
        Some(("run", matches)) => run::from_matches(matches).map(Action::Run),
        Some(("age", matches)) => age::from_matches(matches).map(Action::Age),
        Some(("sink", matches)) => traffic::sink_from_matches(matches).map(Action::Sink),
        Some(("send", matches)) => traffic::send_from_matches(matches).map(Action::Send),
        Some(("bench", matches)) => Ok(Action::Bench(bench::from_matches(matches))),
        Some(("doctor", matches)) => Ok(Action::Doctor(doctor::from_matches(matches))),
        Some(("man", matches)) => Ok(Action::Man { directory: matches.get_one("directory").cloned() }),
        Some(("completions", matches)) => match matches.get_one("shell") {
            Some(shell) => Ok(Action::Completions(*shell)),
            None => Err(Failure::usage("which shell?")),
        },
        _ => top::plain().map(Action::Top),
    }
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn root() -> Arg {
    Arg::new("root")
        .long("root")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help("Read a captured machine: a directory that holds proc, and perhaps sys")
}

fn roots(matches: &ArgMatches) -> Roots {
    matches.get_one::<PathBuf>("root").map_or_else(Roots::live, Roots::captured)
}

fn json() -> Arg {
    switch("json", "Print the same facts as JSON, a document a line, units in the field names")
}

/// An option that takes seconds.
fn seconds_option(name: &'static str, letter: char, help: &'static str) -> Arg {
    Arg::new(name).long(name).short(letter).value_name("SECS").value_parser(seconds).help(help)
}

/// The option that takes how often to repeat.
fn count_option(letter: char, help: &'static str) -> Arg {
    let at_least_once = value_parser!(u64).range(1..);
    Arg::new("count").long("count").short(letter).value_name("N").value_parser(at_least_once).help(help)
}

/// Seconds with a fraction, from a hundredth to a year.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("\"{text}\" is no number of seconds"))?;
    if !(0.01..=31_536_000.0).contains(&seconds) {
        return Err("from 0.01 to 31536000 seconds".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        let mut command = command();
        command.build();
        command.debug_assert();
    }

    #[test]
    fn explanations_fit_where_help_is_wrapped() {
        let mut command = command();
        command.build();
        for subcommand in command.get_subcommands() {
            let explanation = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in explanation.lines() {
                assert!(line.chars().count() <= 98, "{}: {line}", subcommand.get_name());
            }
        }
    }

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "inf", "x", "1e99"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
