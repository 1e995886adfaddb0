//! The agents that run: where their configurations and histories are, and where they answer requests.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sampling::agent_client::AgentClient;
use text::printable::Shown as _;

use crate::failure::Failure;
use crate::paths;

/// An agent that runs, as its status describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningAgent {
    /// The file of its configuration; `None` if it has none.
    pub configuration: Option<PathBuf>,
    /// Its data directory.
    pub data: Option<PathBuf>,
    /// Where it answers requests over HTTP without a token, such as `http://127.0.0.1:9140`; `None` if nowhere, or at a Unix socket.
    pub url: Option<String>,
}

/// Finds agents by their sockets, that of this user before that of the machine. At the first one only an agent of this user or of root is
/// believed: any other could lead a command to any file.
///
/// # Errors
/// If an agent is there and does not answer: which files it has is not known then, and others would be the wrong ones.
pub fn find_all() -> Result<Vec<RunningAgent>, Failure> {
    let own_uid = probe::own_uid();
    let is_own = |client: &AgentClient| client.peer_uid().is_ok_and(|uid| uid == own_uid || uid == 0);
    let mut agents = Vec::new();
    if let Some(path) = paths::own_agent_socket() {
        agents.extend(ask(&path, is_own)?);
    }
    agents.extend(ask(&paths::system_agent_socket(), |_| true)?);
    Ok(agents)
}

/// How long an agent that closed the connection is asked again: it does so when its socket is started anew.
const MAX_ABSENCE: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Asks the agent at a socket; `None` if there is none, this user may not ask it, or it is not believed.
fn ask(path: &Path, is_believed: impl Fn(&AgentClient) -> bool) -> Result<Option<RunningAgent>, Failure> {
    let deadline = Instant::now() + MAX_ABSENCE;
    let mut has_closed = false;
    loop {
        let (error, is_there) = match AgentClient::connect(path) {
            Ok(client) if !is_believed(&client) => return Ok(None),
            Ok(mut client) => match client.status() {
                Ok(status) => return Ok(Some(described(&status))),
                Err(error) => (error, true),
            },
            Err(error) => (error, false),
        };
        let is_silent = matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock);
        has_closed |= matches!(
            error.kind(),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        );
        if has_closed && !is_silent && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        }
        return match is_there || is_silent {
            true => {
                let path = path.shown();
                Err(Failure::new(format!("an agent listens at {path} and does not answer: {error}")))
            }
            false => Ok(None),
        };
    }
}

fn described(status: &str) -> RunningAgent {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let path = |name: &str| value(name).map(PathBuf::from).filter(|path| path.is_absolute());
    RunningAgent {
        configuration: path("configuration"),
        data: path("data"),
        url: value("http").and_then(|address| url(address.parse().ok()?)),
    }
}

/// The address on this machine, where the agent knows users.
fn url(mut address: SocketAddr) -> Option<String> {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address.ip().is_loopback().then(|| format!("http://{address}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_described_by_its_status() {
        let agent = |status: &str| {
            let RunningAgent { configuration, data, url } = described(status);
            let shown = |path: Option<PathBuf>| path.map(|path| path.display().to_string());
            (shown(configuration), shown(data), url)
        };
        let text = |text: &str| Some(text.to_owned());
        let status = "whit_agent_ticks_total 12\nconfiguration /etc/whit/agent.toml\ndata /srv/my history\nhttp 127.0.0.1:9140\n";
        let described =
            (text("/etc/whit/agent.toml"), text("/srv/my history"), text("http://127.0.0.1:9140"));
        assert_eq!(agent(status), described);
        assert_eq!(agent("http 0.0.0.0:80\n").2, text("http://127.0.0.1:80"));
        assert_eq!(agent("http [::]:80\n").2, text("http://[::1]:80"));
        for status in [
            "http unix:/run/whit/http.sock\n",
            "http 192.0.2.7:80\n",
            "database 1\n",
            "data history\n",
            "configuration a.toml\n",
        ] {
            assert_eq!(agent(status), (None, None, None), "{status}");
        }
    }
}
