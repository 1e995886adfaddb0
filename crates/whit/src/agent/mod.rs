//! `whit agent`: the recorder, in the foreground.

pub(crate) mod arguments;

use std::process::ExitCode;

use ::agent::AgentOptions;

use crate::failure::Failure;

/// Records until it is ended.
pub(crate) fn run(options: &AgentOptions) -> Result<ExitCode, Failure> {
    probe::raise_descriptor_limit();
    match ::agent::run(options) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::new(error.to_string())),
    }
}
