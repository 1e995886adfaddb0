//! Where the past is read: a history in a directory, or a server that is asked.

use std::path::{Path, PathBuf};

use ::history::HISTORY;
use probe::named;
use text::printable::Shown as _;

use crate::failure::Failure;
use crate::paths;
use crate::running_agent::{self, RunningAgent};

/// The origin of an answer about the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PastOrigin {
    /// A history in this directory.
    Directory(PathBuf),
    /// A server that answers as Prometheus does, by its address.
    Server(String),
}

/// Finds the past of a directory that is named; otherwise that of this user, if there is one; otherwise that of an agent that runs: its
/// history if this user may read it, or the agent itself.
///
/// # Errors
/// If none is named and the user has no home directory. If an agent runs, but this user may not read its history and it does not answer.
pub fn find(named: Option<&Path>) -> Result<PastOrigin, Failure> {
    let own = paths::data_directory(named);
    let is_named = named.is_some() || paths::data_of_environment().is_some();
    if is_named || own.as_ref().is_ok_and(|directory| directory.join(HISTORY).exists()) {
        return own.map(PastOrigin::Directory);
    }
    let agents: Vec<RunningAgent> = running_agent::find_all().collect();
    let mut directories = agents.iter().filter_map(|agent| agent.data.clone());
    if let Some(directory) = directories.clone().find(|directory| is_readable(directory)) {
        return Ok(PastOrigin::Directory(directory));
    }
    match (agents.iter().find_map(|agent| agent.url.clone()), directories.next()) {
        (Some(url), _) => Ok(PastOrigin::Server(url)),
        (None, Some(directory)) => Err(Failure::new(format!(
            "an agent records in {}, which its own user and root may read; it answers no requests of others: [http] in its configuration",
            directory.shown()
        ))),
        (None, None) => own.map(PastOrigin::Directory),
    }
}

/// Returns whether this user may read a history. What is there may be anything: it is not waited for, nor followed.
fn is_readable(directory: &Path) -> bool {
    let path = directory.join(HISTORY);
    std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) && named::open(&path).is_ok()
}
