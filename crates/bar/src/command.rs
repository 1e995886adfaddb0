//! `whit bar`.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;

use clap::ArgMatches;

use crate::arguments::{self, BarCommand};
use crate::{self as bar, Defaults, Origin};
use command::failure::{Failure, write_stderr};
use command::output::Output;
use probe::named;
use text::printable::Shown as _;

/// Runs `whit bar`: draws the bar, or prints its configuration.
///
/// # Errors
/// If the command line or the configuration is wrong, or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    match &arguments::from_matches(matches)? {
        BarCommand::Draw(args) => {
            probe::raise_descriptor_limit();
            crate::cycle::run(args)
        }
        BarCommand::Check { config } => check(config.as_deref()),
        BarCommand::Import { path } => import(path),
        BarCommand::PrintDefaults(defaults) => print(&bar::printed_defaults(defaults)),
        BarCommand::Reference => print(&bar::reference()),
    }
}

fn check(config: Option<&Path>) -> Result<ExitCode, Failure> {
    let origin = Origin::find(config, Defaults::default());
    let segments = origin.read(None)?.members.len();
    print(&format!("{origin}: good, {segments} segment{}\n", if segments == 1 { "" } else { "s" }))
}

fn import(path: &Path) -> Result<ExitCode, Failure> {
    let name = path.shown();
    let text = match path == Path::new("-") {
        true => read_stdin(),
        false => named::read_text(path, named::CONFIGURATION_BYTES),
    };
    let text = text.map_err(|error| Failure::new(format!("{name}: {error}")))?;
    let imported = bar::import(&text).map_err(|error| Failure::new(format!("{name}:{error}")))?;
    let notes = |kind: &'static str| {
        imported.lines().filter_map(move |line| line.strip_prefix("# ")?.strip_prefix(kind))
    };
    for (kind, note) in ["not carried over: ", "differs: "]
        .into_iter()
        .flat_map(|kind| notes(kind).map(move |note| (kind, note)))
    {
        write_stderr(&format!("whit: {name}: {kind}{note}\n"));
    }
    let segments = imported.matches("[[segment]]").count();
    let (left_out, differ) = (notes("not carried over: ").count(), notes("differs: ").count());
    write_stderr(&format!("whit: segments: {segments}, differ: {differ}, left out: {left_out}\n"));
    print(&imported)
}

/// Reads standard input, up to the size that a configuration may have.
fn read_stdin() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().take(named::CONFIGURATION_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
