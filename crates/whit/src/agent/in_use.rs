//! The configuration of the agent that a command is about.

use std::fmt;
use std::path::{Path, PathBuf};

use ::agent::AgentOptions;
use clap::ArgMatches;
use command::agent_files;
use command::failure::Failure;
use command::options::named_data;
use command::paths;

use super::arguments::usual;
use super::configuration::Origin;

/// A configuration that was read. It is displayed as the file that it is from.
#[derive(Debug)]
pub(crate) struct InUse {
    origin: Origin,
    /// The options in it, over the defaults.
    pub(crate) options: AgentOptions,
}

impl InUse {
    /// Reads a configuration as [`agent_files::configuration`] finds it.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub(crate) fn read(named: Option<&Path>, data: Option<&Path>) -> Result<Self, Failure> {
        let origin = agent_files::configuration(named, data)?.map_or(Origin::Defaults, Origin::File);
        Ok(Self { options: origin.read(usual())?, origin })
    }
}

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)
    }
}

/// The data directory of a command with a configuration: as it is named, here or in the environment, otherwise that of the configuration if
/// one is named, otherwise the usual one of the command. The agent itself has the same order.
///
/// # Errors
/// What is wrong with the configuration.
pub(crate) fn data_directory(
    matches: &ArgMatches,
    usual: fn(Option<&Path>) -> Result<PathBuf, Failure>,
) -> Result<PathBuf, Failure> {
    let data = named_data(matches);
    let is_named = data.is_some() || paths::data_of_environment().is_some();
    if let (false, Some(config)) = (is_named, matches.get_one::<PathBuf>("config")) {
        let InUse { options, .. } = InUse::read(Some(config), None)?;
        if !options.recorder.data.as_os_str().is_empty() {
            return Ok(options.recorder.data);
        }
    }
    usual(data)
}
