//! Options of `whit bench`.

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use super::options::BenchOptions;
use command::kind::Kind;
use command::options::{count, json, number, option, paragraphs, several, switch};

/// Returns the options of `whit bench`.
pub fn command() -> Command {
    Command::new("bench").about("Measure whit's methods here, and those that they replaced").defer(
        |command| {
            command
                .arg(several("only", Kind::Name, "Only measurements whose names begin so"))
                .arg(switch("list", "Print the names and what they measure").short('l').conflicts_with_all([
                    "count",
                    "quick",
                    "html",
                    "directory",
                ]))
                .arg(count("Rounds of each, where one does not take too long [default: 5]"))
                .arg(
                    switch("quick", "A first look: one round, without those that take long")
                        .conflicts_with("count"),
                )
                .arg(
                    option(
                        "url",
                        Kind::Url,
                        "Measure the datastore at this address, too: one that takes Prometheus' remote write",
                    )
                    .conflicts_with("list"),
                )
                .arg(option("html", Kind::File, "Write a page, too"))
                .arg(
                    option(
                        "directory",
                        Kind::Directory,
                        "Where files are made for it, and taken away again [default: /dev/shm, or TMPDIR]",
                    )
                    .short('C'),
                )
                .arg(json())
                .after_help(paragraphs(EXPLANATION))
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
        rounds: number(matches, "count").unwrap_or(if matches.get_flag("quick") { 1 } else { 5 }),
        is_quick: matches.get_flag("quick"),
        is_json: matches.get_flag("json"),
        url: matches.get_one("url").cloned(),
        html: matches.get_one("html").cloned(),
        directory: matches.get_one("directory").cloned().unwrap_or_else(default),
    }
}
