//! Options of `whit agent`.

use std::time::Duration;

use ::agent::AgentOptions;
use clap::{ArgMatches, Command};

use crate::command_line::kind::Kind;
use crate::command_line::options::{count, data, data_directory, interval, option, paragraphs};
use crate::failure::Failure;
use crate::paths;

pub(crate) fn command() -> Command {
    Command::new("agent").about("Record what this machine does, always on").defer(|command| {
        command
            .arg(data())
            .arg(interval("Time between two ticks [default: 1s]"))
            .arg(count("End after N ticks"))
            .arg(option("now", Kind::Path, "Where scripts read the last tick [default: whit/now in $XDG_RUNTIME_DIR, for root /run/whit/now]"))
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Ends on Ctrl-C or SIGTERM. Killed at any moment it loses no tick that it finished. whit history tells
what there is. Without privileges it records what it may read.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<AgentOptions, Failure> {
    Ok(AgentOptions {
        data: data_directory(matches)?,
        now: matches.get_one("now").cloned().or_else(paths::now_file),
        interval: matches.get_one("interval").copied().unwrap_or(Duration::from_secs(1)),
        count: matches.get_one("count").copied(),
    })
}
