//! `whit man` and `whit completions`: other renderings of the table of options.

use std::path::Path;
use std::process::ExitCode;

use clap_complete::Shell;

use crate::command_line;
use crate::failure::Failure;
use crate::output::Output;
use text::printable::Shown as _;

/// Prints the man page, or writes one a command into a directory.
pub(crate) fn man(directory: Option<&Path>) -> Result<ExitCode, Failure> {
    let command = command_line::command();
    match directory {
        Some(directory) => {
            std::fs::create_dir_all(directory)
                .and_then(|()| clap_mangen::generate_to(command, directory))
                .map_err(|error| Failure::new(format!("{}: {error}", directory.shown())))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).map_err(Failure::internal)?;
            Output::stdout().write(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the table of options.
pub(crate) fn grammar() -> Result<ExitCode, Failure> {
    Output::stdout().write(command_line::grammar::markdown(&mut command_line::command()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints completions.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line::command(), "whit", &mut script);
    Output::stdout().write(&script)?;
    Ok(ExitCode::SUCCESS)
}
