//! `whit bar`.

use std::path::Path;
use std::process::ExitCode;

use crate::bar::arguments::BarCommand;
use crate::bar::{self, Defaults, Origin};
use crate::failure::Failure;
use crate::output::Output;
use probe::named;
use text::printable::Shown as _;

/// Draws the bar, or prints its configuration.
pub(crate) fn run(command: &BarCommand) -> Result<ExitCode, Failure> {
    match command {
        BarCommand::Draw(args) => {
            probe::raise_descriptor_limit();
            bar::run(args)
        }
        BarCommand::Check { config } => check(config.as_deref()),
        BarCommand::Import { path } => import(path),
        BarCommand::PrintDefaults(defaults) => print(&bar::default_configuration(defaults)),
        BarCommand::Reference => print(&bar::reference()),
    }
}

fn check(config: Option<&Path>) -> Result<ExitCode, Failure> {
    let origin = Origin::find(config, Defaults::default());
    let segments = origin.read(None)?.members.len();
    print(&format!("{origin}: good, {segments} segments\n"))
}

fn import(path: &Path) -> Result<ExitCode, Failure> {
    let name = path.shown();
    let text = named::read_text(path, named::CONFIGURATION_BYTES)
        .map_err(|error| Failure::new(format!("{name}: {error}")))?;
    let imported = bar::import(&text).map_err(|error| Failure::new(format!("{name}:{error}")))?;
    print(&imported)
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
