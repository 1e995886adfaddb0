//! Options of `whit agent`.

use std::time::Duration;

use ::agent::AgentOptions;
use clap::{ArgMatches, Command};

use crate::command_line::options::{count, data, data_directory, interval, paragraphs};
use crate::failure::Failure;

pub(crate) fn command() -> Command {
    Command::new("agent").about("Record what this machine does, always on").defer(|command| {
        command
            .arg(data())
            .arg(interval("Time between two ticks [default: 1s]"))
            .arg(count("End after N ticks"))
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Ends on Ctrl-C or SIGTERM. Killed at any moment it loses no tick that it finished. whit history tells
what there is. Without privileges it records what it may read.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<AgentOptions, Failure> {
    Ok(AgentOptions {
        data: data_directory(matches)?,
        interval: matches.get_one("interval").copied().unwrap_or(Duration::from_secs(1)),
        count: matches.get_one("count").copied(),
    })
}
