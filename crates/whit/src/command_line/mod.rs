//! The command line: one table, from which help, man pages and completions come too.
//!
//! What leaves this module is validated; a command never sees a raw argument.

pub(crate) mod examples;
pub(crate) mod grammar;
pub(crate) mod kind;
pub(crate) mod options;
pub(crate) mod quantity;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::age::arguments as age;
use crate::age::verdict::unknown;
#[cfg(feature = "agent")]
use crate::agent::arguments as agent;
#[cfg(feature = "agent")]
use crate::alert::arguments as alert;
use crate::bar::arguments as bar;
#[cfg(feature = "bench")]
use crate::bench::arguments as bench;
#[cfg(feature = "agent")]
use crate::check::arguments as check;
use crate::delays::arguments as delays;
use crate::doctor::arguments as doctor;
use crate::failure::Failure;
#[cfg(feature = "feeds")]
use crate::feeds::arguments as feeds;
use crate::free::arguments as free;
#[cfg(feature = "agent")]
use crate::history::arguments as history;
#[cfg(feature = "agent")]
use crate::mark::arguments as mark;
#[cfg(feature = "agent")]
use crate::plot::arguments as plot;
#[cfg(feature = "agent")]
use crate::query::arguments as query;
#[cfg(feature = "agent")]
use crate::relabel::arguments as relabel;
use crate::run::arguments as run;
use crate::top::arguments as top;
#[cfg(feature = "traffic")]
use crate::traffic::arguments as traffic;
#[cfg(feature = "agent")]
use crate::why::arguments as why;

/// What to do.
#[derive(Debug)]
pub(crate) enum Action {
    Bar(bar::BarCommand),
    Free(free::FreeArgs),
    Delays(delays::DelaysArgs),
    Top(crate::top::options::TopOptions),
    Run(crate::run::options::RunOptions),
    Age(crate::age::options::AgeOptions),
    #[cfg(feature = "agent")]
    Agent(agent::AgentCommand),
    #[cfg(feature = "agent")]
    Plot(plot::PlotArgs),
    #[cfg(feature = "agent")]
    Alert(alert::AlertArgs),
    #[cfg(feature = "agent")]
    Check(check::CheckArgs),
    #[cfg(feature = "feeds")]
    Feeds(feeds::FeedsArgs),
    #[cfg(feature = "agent")]
    Mark(mark::MarkArgs),
    #[cfg(feature = "agent")]
    History(history::HistoryArgs),
    #[cfg(feature = "agent")]
    Relabel(relabel::RelabelCommand),
    #[cfg(feature = "agent")]
    Query(query::QueryArgs),
    #[cfg(feature = "agent")]
    Why(why::WhyArgs),
    #[cfg(feature = "bench")]
    Bench(crate::bench::options::BenchOptions),
    #[cfg(feature = "traffic")]
    Sink(crate::traffic::sink::options::SinkOptions),
    #[cfg(feature = "traffic")]
    Send(crate::traffic::send::options::SendOptions),
    Doctor(doctor::DoctorArgs),
    Man {
        directory: Option<PathBuf>,
    },
    /// The table of options.
    Grammar,
    Completions(Shell),
}

/// The whole table.
pub(crate) fn command() -> Command {
    let command = Command::new("whit")
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(80)
        .about("Tells where a machine's time and memory go, for next to nothing")
        .after_help("Each command says more: whit COMMAND --help. Without a command: whit top. What this machine gives: whit doctor.")
        // A subcommand's options are built only when it is the one that is called: half of a short run's time.
        .subcommand(bar::command())
        .subcommand(free::command())
        .subcommand(delays::command())
        .subcommand(top::command())
        .subcommand(run::command())
        .subcommand(age::command());
    #[cfg(feature = "traffic")]
    let command = command.subcommand(traffic::sink_command()).subcommand(traffic::send_command());
    #[cfg(feature = "bench")]
    let command = command.subcommand(bench::command());
    #[cfg(feature = "agent")]
    let command = command
        .subcommand(agent::command())
        .subcommand(why::command())
        .subcommand(query::command())
        .subcommand(history::command())
        .subcommand(alert::command())
        .subcommand(check::command())
        .subcommand(mark::command())
        .subcommand(plot::command())
        .subcommand(relabel::command());
    #[cfg(feature = "feeds")]
    let command = command.subcommand(feeds::command());
    command
        .subcommand(doctor::command())
        .subcommand(Command::new("man").about("Print a man page, or write one of each command").defer(
            |command| {
                command
                    .arg(options::directories("A command, whose page is printed; or a directory, into which whit.1, whit-free.1 … are written").num_args(1))
                    .arg(options::switch("grammar", "Print all options of all commands, as Markdown").conflicts_with("directory"))
            },
        ))
        .subcommand(Command::new("completions").about("Print completions for a shell").defer(|command| {
            command.arg(
                Arg::new("shell")
                    .value_name("SHELL")
                    .value_parser(value_parser!(Shell))
                    .required(true)
                    .help("The shell"),
            )
        }))
}

/// Reads the command line. clap prints help, version and usage errors itself, the last with exit status 2.
pub(crate) fn parse() -> Result<Action, Failure> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let matches = command().try_get_matches_from(&words).map_err(|refused| {
        let code = u8::try_from(refused.exit_code()).unwrap_or(2);
        match refused.print() {
            Err(error) if code == 0 => crate::output::failure(error),
            _ if code != 0 && age::is_plugin(&words) => unknown(&refused.to_string()),
            _ => Failure::silent(code),
        }
    });
    from_matches(&matches?).map_err(|failure| match age::is_plugin(&words) {
        true => {
            failure.report();
            unknown(failure.message())
        }
        false => failure,
    })
}

fn from_matches(matches: &ArgMatches) -> Result<Action, Failure> {
    match matches.subcommand() {
        Some(("bar", matches)) => bar::from_matches(matches).map(Action::Bar),
        Some(("free", matches)) => free::from_matches(matches).map(Action::Free),
        Some(("delays", matches)) => delays::from_matches(matches).map(Action::Delays),
        Some(("top", matches)) => top::from_matches(matches).map(Action::Top),
        Some(("run", matches)) => run::from_matches(matches).map(Action::Run),
        Some(("age", matches)) => age::from_matches(matches).map(Action::Age),
        #[cfg(feature = "traffic")]
        Some(("sink", matches)) => traffic::sink_from_matches(matches).map(Action::Sink),
        #[cfg(feature = "traffic")]
        Some(("send", matches)) => traffic::send_from_matches(matches).map(Action::Send),
        #[cfg(feature = "bench")]
        Some(("bench", matches)) => Ok(Action::Bench(bench::from_matches(matches))),
        #[cfg(feature = "agent")]
        Some(("agent", matches)) => agent::from_matches(matches).map(Action::Agent),
        #[cfg(feature = "agent")]
        Some(("history", matches)) => history::from_matches(matches).map(Action::History),
        #[cfg(feature = "agent")]
        Some(("plot", matches)) => plot::from_matches(matches).map(Action::Plot),
        #[cfg(feature = "agent")]
        Some(("alert", matches)) => alert::from_matches(matches).map(Action::Alert),
        #[cfg(feature = "agent")]
        Some(("check", matches)) => check::from_matches(matches).map(Action::Check),
        #[cfg(feature = "feeds")]
        Some(("feeds", matches)) => feeds::from_matches(matches).map(Action::Feeds),
        #[cfg(feature = "agent")]
        Some(("why", matches)) => why::from_matches(matches).map(Action::Why),
        #[cfg(feature = "agent")]
        Some(("mark", matches)) => mark::from_matches(matches).map(Action::Mark),
        #[cfg(feature = "agent")]
        Some(("query", matches)) => query::from_matches(matches).map(Action::Query),
        #[cfg(feature = "agent")]
        Some(("relabel", matches)) => Ok(Action::Relabel(relabel::from_matches(matches))),
        Some(("doctor", matches)) => Ok(Action::Doctor(doctor::from_matches(matches))),
        Some(("man", matches)) if matches.get_flag("grammar") => Ok(Action::Grammar),
        Some(("man", matches)) => Ok(Action::Man { directory: matches.get_one("directory").cloned() }),
        Some(("completions", matches)) => match matches.get_one("shell") {
            Some(shell) => Ok(Action::Completions(*shell)),
            None => Err(Failure::usage("which shell?")),
        },
        _ => top::plain().map(Action::Top),
    }
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
    fn every_command_has_examples_that_are_understood() {
        for subcommand in command().get_subcommands().map(Command::get_name) {
            let examples = examples::of(subcommand);
            assert!(
                !examples.is_empty() || ["man", "completions", "help"].contains(&subcommand),
                "{subcommand}"
            );
            for (words, _) in examples {
                let words = std::iter::once("whit").chain(words.split_whitespace());
                let matches =
                    command().try_get_matches_from(words.clone()).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(matches.subcommand_name(), Some(subcommand));
            }
        }
    }

    #[test]
    fn help_fits_eighty_columns() {
        let mut command = command();
        command.build();
        for subcommand in command.get_subcommands_mut() {
            let explanation = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            for row in explanation.lines().filter(|line| line.starts_with(' ')) {
                assert!(row.chars().count() <= 80, "{}, of a table: {row}", subcommand.get_name());
            }
            let help = subcommand.render_help().to_string();
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", subcommand.get_name());
            }
        }
    }
}
