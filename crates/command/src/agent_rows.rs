//! Rows from the agent's socket for other commands: the delays of a user's own tasks where they could read /proc alone, and the
//! agent's status.

use std::time::Duration;

use probe::Roots;
use probe::tasks::{TaskReader, TaskSource};
use sampling::agent_client::{AgentClient, AgentRows};

use crate::paths;

/// Connects to an agent, that of the machine first.
pub fn connect() -> Option<AgentClient> {
    paths::agent_sockets().find_map(|path| AgentClient::connect(&path).ok())
}

/// The status of an agent, through a connection that is kept.
pub fn status(client: &mut Option<AgentClient>) -> Option<String> {
    let mut connected = client.take().or_else(connect)?;
    let status = connected.status().ok()?;
    *client = Some(connected);
    Some(status)
}

/// Lets a reader of /proc take rows of the agent, if one runs that reads as often. `interval` is that of the view, if it has one.
pub fn add(reader: &mut TaskReader, roots: &Roots, interval: Option<Duration>) {
    if reader.source() != TaskSource::Procfs || roots.is_captured() {
        return;
    }
    let is_often =
        |client: &AgentClient| interval.is_none_or(|interval| client.hello().interval <= interval.into());
    if let Some(client) = connect().filter(is_often) {
        reader.set_better_rows(Box::new(AgentRows::new(client)));
    }
}
