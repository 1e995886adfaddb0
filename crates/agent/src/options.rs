//! The options of an agent.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use alerts::AlertOptions;
use checks::CheckOptions;
use exporters::ExporterOptions;
use facts::unit::Ratio;
use fleet::FleetOptions;
use recorder::RecorderOptions;
use remote_write::ReceiverOptions;
use service::Privileged;
use text::printable::Shown as _;

/// The options of an agent: what is recorded and served.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentOptions {
    /// The file that they were read from, a whole path; `None`: they are the defaults.
    pub configuration: Option<PathBuf>,
    /// The options of the recorder: what is recorded, and where.
    pub recorder: RecorderOptions,
    /// The socket; `None`: none.
    pub socket: Option<PathBuf>,
    /// The users who see every task there, beside root and, if it has no privileges, the agent's own user.
    pub privileged: Privileged,
    /// Where HTTP is served; `None`: nowhere.
    pub http: Option<HttpOptions>,
    /// The options of alerts; `None`: there are none.
    pub alerts: Option<AlertOptions>,
    /// The options of checks; `None`: there are none.
    pub checks: Option<CheckOptions>,
    /// The metrics of other programs that are recorded; `None`: none.
    pub exporters: Option<ExporterOptions>,
    /// The stores that are sent what was recorded.
    pub remote_write: Vec<ReceiverOptions>,
    /// The store that has the fleet; `None`: none.
    pub fleet: Option<FleetOptions>,
    /// The feeds that are polled, and how; `None`: none.
    #[cfg(feature = "feeds")]
    pub feeds: Option<feeds::FeedOptions>,
    /// The part of a CPU that one client's evaluations over HTTP may use. Root and the agent's user are not limited.
    pub requests_cpu_limit: Ratio,
}

/// How HTTP is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// Where.
    pub listen: Listen,
    /// The token that a client must know. An address off loopback needs one.
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
    /// Returns whether only this machine can reach it.
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
