//! Options of `whit bench`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::options::BenchOptions;
use crate::command_line::options::{json, switch};

pub(crate) fn command() -> Command {
    Command::new("bench").about("Measure whit's methods and those that it replaced, on this machine").defer(
        |command| {
            command
            .arg(
                Arg::new("only")
                    .long("only")
                    .value_name("NAME")
                    .action(ArgAction::Append)
                    .help("Only measurements whose names begin so"),
            )
            .arg(switch("list", "Print the names and what they measure"))
            .arg(
                Arg::new("rounds")
                    .long("rounds")
                    .value_name("N")
                    .value_parser(value_parser!(u64).range(1..=1000))
                    .help("Rounds of each, where one does not take too long [default: 5]"),
            )
            .arg(
                Arg::new("html")
                    .long("html")
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .help("Write a page, too"),
            )
            .arg(
                Arg::new("directory")
                    .long("directory")
                    .value_name("DIR")
                    .value_parser(value_parser!(PathBuf))
                    .help("Where files are made for it, and taken away again [default: /dev/shm, or TMPDIR]"),
            )
            .arg(json())
            .after_help(EXPLANATION)
        },
    )
}

const EXPLANATION: &str = "\
The methods run in turn, round by round, so that other work on the machine affects all of them. A
ratio is of one round; the median, the least and the greatest are printed. A method whose program
is not installed is named and left out. For one of them a million files are made, up to 1 GB where
DIR is memory. The exit status is 1 if a method could not be measured for another reason.";

pub(crate) fn from_matches(matches: &ArgMatches) -> BenchOptions {
    let in_memory = PathBuf::from("/dev/shm");
    let default = || if in_memory.is_dir() { in_memory.clone() } else { std::env::temp_dir() };
    BenchOptions {
        only: matches.get_many::<String>("only").into_iter().flatten().cloned().collect(),
        is_list: matches.get_flag("list"),
        rounds: matches
            .get_one::<u64>("rounds")
            .and_then(|rounds| usize::try_from(*rounds).ok())
            .unwrap_or(5),
        is_json: matches.get_flag("json"),
        html: matches.get_one("html").cloned(),
        directory: matches.get_one("directory").cloned().unwrap_or_else(default),
    }
}
