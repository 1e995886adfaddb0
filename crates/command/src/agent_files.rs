//! The agent's configuration and data: where an agent that is started finds them, and which of them a command is about.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use configuration::{Fault, Options, parse};
use probe::named;
use text::printable::Shown as _;

use crate::failure::Failure;
use crate::paths;
use crate::running_agent::{self, RunningAgent};

/// The name below a directory for configurations.
const FILE: &str = "whit/agent.toml";

/// The size of a configuration, at most.
pub const MAX_CONFIGURATION_BYTES: u64 = 16 * 1024 * 1024;

/// Finds the configuration of an agent that is started: as it was named, here or in the environment; else that of the service; else that
/// of the user, else that of the system, for root in /etc first. `None` if there is none.
pub fn own_configuration(named: Option<&Path>) -> Option<PathBuf> {
    let given = named.map(Path::to_owned).or_else(paths::configuration_of_environment);
    if let Some(path) = given.or_else(paths::service_configuration) {
        return Some(path);
    }
    // Root's agent is the system's.
    let system = PathBuf::from("/etc").join(FILE);
    let is_system = rustix::process::geteuid().is_root() && system.exists();
    if is_system { Some(system) } else { paths::find_configuration(FILE) }
}

/// Finds the configuration that a command is about: as it was named, here or in the environment; else that of the agent that runs, if it
/// records into `data`; else that which an agent would find. `None` stands for the defaults.
///
/// # Errors
/// If an agent runs and does not answer.
pub fn configuration(named: Option<&Path>, data: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = named.map(Path::to_owned).or_else(paths::configuration_of_environment) {
        return Ok(Some(path));
    }
    let is_meant = |agent: &RunningAgent| match (data, agent.data.as_deref()) {
        (Some(wanted), Some(data)) => is_same(wanted, data),
        (wanted, _) => wanted.is_none(),
    };
    Ok(match running_agent::find_all()?.into_iter().find(is_meant) {
        Some(agent) => agent.configuration,
        None => own_configuration(None),
    })
}

/// Returns whether two paths are of one directory.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Finds the data directory that a command is about: as it was named, here or in the environment; else that of the agent that runs; else
/// that of an agent that would be started.
///
/// # Errors
/// If the configuration that says it is malformed, an agent runs and does not answer, or there is no home.
pub fn data(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(directory) = named_data(named)? {
        return Ok(directory);
    }
    let recording = running_agent::find_all()?.into_iter().find_map(|agent| agent.data);
    recording.map_or_else(|| own_data(None), Ok)
}

/// Returns the data directory that was named, here or in the environment; there also by a configuration.
///
/// # Errors
/// If that configuration cannot be read.
pub fn named_data(named: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    if let Some(directory) = named.map(Path::to_owned).or_else(paths::data_of_environment) {
        return Ok(Some(directory));
    }
    match paths::configuration_of_environment() {
        Some(configuration) => data_in(&configuration),
        None => Ok(None),
    }
}

/// Returns the data directory of an agent that would be started: as it is named, or that of its configuration, or this user's place for it.
///
/// # Errors
/// If the configuration is malformed, or there is no home.
pub fn own_data(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(directory) = named_data(named)? {
        return Ok(directory);
    }
    let configured = match own_configuration(None) {
        Some(path) if may_read(&path) => data_in(&path)?,
        _ => None,
    };
    configured.map_or_else(|| paths::data_directory(None), Ok)
}

/// The configuration of the system may hold secrets: to other users it is as if it were not there.
fn may_read(path: &Path) -> bool {
    !named::open(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// Returns the data directory that a configuration names, whatever else it says.
fn data_in(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let text = named::read_text(path, MAX_CONFIGURATION_BYTES)
        .map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?;
    read_data(&text).map_err(|fault| Failure::new(fault.in_text(&path.shown().to_string(), &text)))
}

fn read_data(text: &str) -> Result<Option<PathBuf>, Fault> {
    let document = parse(text)?;
    let root = Options::new(document.get_ref(), 0..0);
    match root.get("data") {
        Some(_) => root.required_path("data", "\"/var/lib/whit\"").map(Some),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_is_read_whatever_stands_beside_it() {
        let data = |text: &str| read_data(text).ok().map(|data| data.map(|data| data.display().to_string()));
        assert_eq!(data("data = \"/srv/whit\"\n[later]\nversion = 2\n"), Some(Some("/srv/whit".to_owned())));
        assert_eq!(data("interval = \"1s\"\n"), Some(None));
        assert_eq!(data("data = 7\n"), None);
        assert_eq!(data("data = \"/srv\n"), None);
    }
}
