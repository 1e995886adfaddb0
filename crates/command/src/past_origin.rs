//! Where the past is read: a history in a directory, or a server that is asked.

use std::path::{Path, PathBuf};

use ::history::HISTORY;
use probe::named;
use text::printable::Shown as _;

use crate::agent_files;
use crate::failure::Failure;
use crate::running_agent;

/// The origin of an answer about the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PastOrigin {
    /// A history in this directory.
    Directory(PathBuf),
    /// A server that answers as Prometheus does, by its address.
    Server(String),
}

/// Finds the past of a directory that is named, here or in the environment; otherwise that of an agent that runs, if this user may read its
/// history; otherwise that of this user, if there is one; otherwise the agent that runs is to answer.
///
/// # Errors
/// If none is named and the user has no home directory. If an agent runs and does not say where its history is, or this user may not read that
/// and it serves no HTTP.
pub fn find(named: Option<&Path>) -> Result<PastOrigin, Failure> {
    if let Some(directory) = agent_files::named_data(named)? {
        return Ok(PastOrigin::Directory(directory));
    }
    let agents = running_agent::find_all()?;
    let mut directories = agents.iter().filter_map(|agent| agent.data.clone());
    if let Some(directory) = directories.clone().find(|directory| is_readable(directory)) {
        return Ok(PastOrigin::Directory(directory));
    }
    let own = agent_files::own_data(None);
    if own.as_ref().is_ok_and(|directory| directory.join(HISTORY).exists()) {
        return own.map(PastOrigin::Directory);
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
