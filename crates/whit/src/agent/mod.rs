//! `whit agent`: the recorder, in the foreground.

pub(crate) mod arguments;
mod configuration;

use std::process::ExitCode;

use self::arguments::{AgentCommand, usual};
use self::configuration::{DEFAULTS, Origin};
use crate::failure::Failure;
use crate::output::Output;

/// Records until it is ended.
pub(crate) fn run(command: &AgentCommand) -> Result<ExitCode, Failure> {
    match command {
        AgentCommand::PrintDefaults => Output::stdout().write(DEFAULTS.as_bytes())?,
        AgentCommand::Check(config) => {
            let origin = Origin::find(config.as_deref());
            origin.read(usual())?;
            Output::stdout().write(format!("{origin}: good\n").as_bytes())?;
        }
        AgentCommand::Record(args) => {
            let options = args.options()?;
            probe::raise_descriptor_limit();
            let reload = || args.options().map_err(|failure| failure.message().to_owned());
            ::agent::run(&options, reload).map_err(|error| Failure::new(error.to_string()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
