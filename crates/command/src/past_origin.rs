//! Where the past is read: a history in a directory, or a server that is asked.

use std::fs::File;
use std::path::{Path, PathBuf};

use ::history::HISTORY;

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

/// Finds the past of a directory that is named; otherwise that of this user, if there is one; otherwise that of the agent that runs: its
/// history if this user may read it, or the agent itself.
///
/// # Errors
/// If none is named, there is no home, and no agent runs.
pub fn find(named: Option<&Path>) -> Result<PastOrigin, Failure> {
    let own = paths::data_directory(named);
    let is_named = named.is_some() || paths::data_of_environment().is_some();
    if is_named || own.as_ref().is_ok_and(|directory| directory.join(HISTORY).exists()) {
        return own.map(PastOrigin::Directory);
    }
    match running_agent::find().and_then(of_agent) {
        Some(origin) => Ok(origin),
        None => own.map(PastOrigin::Directory),
    }
}

fn of_agent(RunningAgent { data, url }: RunningAgent) -> Option<PastOrigin> {
    let readable = data.filter(|data| File::open(data.join(HISTORY)).is_ok());
    readable.map(PastOrigin::Directory).or(url.map(PastOrigin::Server))
}
