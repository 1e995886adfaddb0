//! The delays of a user's own tasks, by the agent's socket: for commands that may read /proc alone.

use probe::Roots;
use probe::tasks::{TaskReader, TaskSource};
use sampling::agent_client::{AgentClient, AgentRows};

use crate::paths;

/// Connects to an agent, that of the machine first.
pub(crate) fn connect() -> Option<AgentClient> {
    paths::agent_sockets().find_map(|path| AgentClient::connect(&path).ok())
}

/// Lets a reader of /proc take rows of the agent, if one runs.
pub(crate) fn add(reader: &mut TaskReader, roots: &Roots) {
    if reader.source() != TaskSource::Procfs || roots.is_captured() {
        return;
    }
    if let Some(client) = connect() {
        reader.set_better_rows(Box::new(AgentRows::new(client)));
    }
}
