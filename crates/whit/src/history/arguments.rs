//! Options of `whit history`.

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use crate::command_line::options::{data, data_directory, json, switch};
use crate::failure::Failure;

/// `whit history`, validated.
#[derive(Debug)]
pub(crate) struct HistoryArgs {
    pub(crate) directory: PathBuf,
    /// Also the names of all series.
    pub(crate) with_series: bool,
    pub(crate) is_json: bool,
}

pub(crate) fn command() -> Command {
    Command::new("history").about("What the agent has recorded").defer(|command| {
        command.arg(data()).arg(switch("list", "Print the name of every series").short('l')).arg(json())
    })
}

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<HistoryArgs, Failure> {
    Ok(HistoryArgs {
        directory: data_directory(matches)?,
        with_series: matches.get_flag("list"),
        is_json: matches.get_flag("json"),
    })
}
