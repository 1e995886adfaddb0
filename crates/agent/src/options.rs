//! What an agent does, and why it cannot.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use alerts::AlertOptions;
use checks::CheckOptions;
use facts::unit::Ratio;
use formats::redaction::Redaction;
use formats::relabel::Relabelling;
use service::Privileged;
use store::{Retention, StoreError};
use text::printable::Shown as _;

/// What is recorded, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentOptions {
    /// A directory of its own: the history, and the lock of its one agent.
    pub data: PathBuf,
    /// Another directory, in memory, for a history as long as there can be none in `data`.
    pub fallback: Option<PathBuf>,
    /// The file with the last tick for scripts; `None`: none.
    pub now: Option<PathBuf>,
    /// The metrics in it, by name; a `*` at the end stands for any rest. Empty: all.
    pub now_metrics: Vec<String>,
    /// The socket; `None`: none.
    pub socket: Option<PathBuf>,
    /// Who sees every task there, beside root and, if it has no privileges, the agent's own user.
    pub privileged: Privileged,
    /// Where HTTP is served; `None`: nowhere.
    pub http: Option<HttpOptions>,
    /// Between two ticks.
    pub interval: Duration,
    /// Between two readings of sources that take long or hardly change.
    pub slow_interval: Duration,
    /// End after so many ticks.
    pub count: Option<u64>,
    /// Whether tasks are recorded.
    pub records_tasks: bool,
    /// Whether command lines are recorded, and what is hidden in them; `None`: they are not.
    pub command_lines: Option<Redaction>,
    /// What becomes of the names of series before they are recorded.
    pub relabelling: Relabelling,
    /// What is kept.
    pub retention: Retention,
    /// What is watched for; `None`: nothing.
    pub alerts: Option<AlertOptions>,
    /// What is checked; `None`: nothing.
    pub checks: Option<CheckOptions>,
    /// Which feeds are polled, and how; `None`: none.
    #[cfg(feature = "feeds")]
    pub feeds: Option<feeds::FeedOptions>,
    /// The command that calls [`crate::serve`] with standard input; `None`: nothing is served.
    pub server: Option<Vec<OsString>>,
    /// The part of a CPU that the agent may use before it reads tasks less often; `None`: any.
    pub cpu_limit: Option<Ratio>,
    /// The part of a CPU that one client's evaluations over HTTP may use. Root and the agent's user are not limited.
    pub requests_cpu_limit: Ratio,
}

/// How HTTP is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// Where.
    pub listen: Listen,
    /// What a client must know. An address off loopback needs one.
    pub token: Option<String>,
}

/// Where HTTP is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// At an address of the network.
    Tcp(SocketAddr),
    /// At a Unix socket, for a proxy.
    Unix(PathBuf),
}

impl Listen {
    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some(path) if path.starts_with('/') => Ok(Self::Unix(path.into())),
            Some(_) => Err("expected a whole path, such as unix:/run/whit/http.sock".to_owned()),
            None => text.parse().map(Self::Tcp).map_err(|_| {
                "expected an address and a port, such as 127.0.0.1:9140, or unix:PATH".to_owned()
            }),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.shown()),
        }
    }
}

/// Why the agent cannot run.
#[derive(Debug)]
pub enum AgentError {
    /// An error of the data directory or the machine.
    System(String, io::Error),
    /// The data directory or a file in it could be under the control of another user.
    Unsafe(PathBuf, &'static str),
    /// Another agent records into this directory.
    Taken(PathBuf),
    /// An error of the history.
    Store(PathBuf, StoreError),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(what, error) => write!(f, "{what}: {error}"),
            Self::Unsafe(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Taken(path) => {
                write!(f, "{}: another agent records there; use --data DIR for another place", path.display())
            }
            Self::Store(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for AgentError {}
