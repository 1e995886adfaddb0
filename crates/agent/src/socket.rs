//! The agent's socket: tasks for those who may see them. A thread of its own serves the clients, so that no client delays a tick.

mod audience;
mod client;
mod exchange;
mod server;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use facts::task::rounds::{RoundTables, Scope};
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use probe::background_job::Notifier;
use sampling::agent_protocol::{Hello, Reply};

use audience::Audience;
use exchange::{Exchange, What};

use service::Privileged;
use service::unix_socket;

/// The socket, as long as this is kept.
pub(crate) struct Socket {
    path: PathBuf,
    exchange: Arc<Exchange>,
    audience: Audience,
    stop: Notifier,
}

impl Socket {
    /// Listens at a path, whose directory is made. `requests` is notified when a client needs data of the recorder. `hello` says what clients should know, but for whose tasks they may see.
    ///
    /// # Errors
    /// If another agent listens there, or the socket cannot be made.
    pub(crate) fn open(
        path: &Path,
        privileged: Privileged,
        hello: Hello,
        requests: Notifier,
    ) -> io::Result<Self> {
        let listener = unix_socket::listen(path)?;
        let (to_server, stop) = (Notifier::new()?, Notifier::new()?);
        let exchange = Arc::new(Exchange::new(to_server.clone(), requests));
        server::start(listener, Arc::clone(&exchange), privileged, hello, to_server, stop.clone())?;
        Ok(Self { path: path.to_owned(), exchange, audience: Audience::default(), stop })
    }

    /// Returns whether a client follows rounds, or waits for its first.
    pub(crate) fn has_followers(&self) -> bool {
        !self.exchange.wishes().is_empty()
    }

    /// Sends a round to the clients that follow. `round` is the same round as the recorder encoded it, for clients that see all tasks.
    pub(crate) fn publish_round(&mut self, tasks: &TaskStore, round: RoundTables) {
        self.audience.publish_round(&self.exchange, tasks, round);
    }

    /// Starts over with all tasks. Clients that follow are disconnected: the next round does not continue their last one.
    pub(crate) fn restart_rounds(&mut self, tasks: &TaskStore) {
        if self.exchange.wishes().iter().any(|(_, wish)| wish.followers > 0) {
            self.exchange.hang_up();
        }
        self.forget_rounds();
        self.publish_whole(tasks);
    }

    /// Forgets the last round, when rounds are not received any more.
    pub(crate) fn forget_rounds(&mut self) {
        self.audience = Audience::default();
    }

    /// Sends all tasks, as of the last round, to the clients that wait for them.
    pub(crate) fn publish_whole(&mut self, tasks: &TaskStore) {
        self.audience.publish_whole(&self.exchange, tasks);
    }

    /// The scopes whose clients wait for [`Self::publish_status`].
    pub(crate) fn status_wishes(&self) -> Vec<Scope> {
        self.exchange.status_wishes()
    }

    /// Sends clients of a scope that wait for it what the agent costs, and what it found.
    pub(crate) fn publish_status(&self, scope: Scope, status: String) {
        self.exchange.publish(What::Status(scope), Reply::Status(status).encode());
    }

    /// Tasks are read in another interval from now on.
    pub(crate) fn set_interval(&self, interval: Nanos) {
        self.exchange.set_interval(interval);
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.stop.notify();
        let _ = unix_socket::remove(&self.path);
    }
}
