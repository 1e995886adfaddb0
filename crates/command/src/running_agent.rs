//! The agents that run: where their histories are, and where they answer requests.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use sampling::agent_client::AgentClient;

use crate::paths;

/// An agent that runs, as its status describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningAgent {
    /// Its data directory.
    pub data: Option<PathBuf>,
    /// Where it answers requests over HTTP without a token, such as `http://127.0.0.1:9140`; `None` if nowhere, or at a Unix socket.
    pub url: Option<String>,
}

/// Finds agents by their sockets, that of the machine first. At another socket only an agent of this user or of root is believed: any other
/// could lead a command to any file.
pub fn find_all() -> impl Iterator<Item = RunningAgent> {
    let own_uid = probe::own_uid();
    let status = move |(place, path): (usize, PathBuf)| {
        let mut client = AgentClient::connect(&path).ok()?;
        let is_trusted = place == 0 || client.peer_uid().is_ok_and(|uid| uid == own_uid || uid == 0);
        if is_trusted { client.status().ok() } else { None }
    };
    paths::agent_sockets().enumerate().filter_map(status).map(|status| described(&status))
}

fn described(status: &str) -> RunningAgent {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    RunningAgent {
        data: value("data").map(PathBuf::from).filter(|data| data.is_absolute()),
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
            let RunningAgent { data, url } = described(status);
            (data.map(|data| data.display().to_string()), url)
        };
        let text = |text: &str| Some(text.to_owned());
        let status = "whit_agent_ticks_total 12\ndata /srv/my history\nhttp 127.0.0.1:9140\n";
        assert_eq!(agent(status), (text("/srv/my history"), text("http://127.0.0.1:9140")));
        assert_eq!(agent("http 0.0.0.0:80\n").1, text("http://127.0.0.1:80"));
        assert_eq!(agent("http [::]:80\n").1, text("http://[::1]:80"));
        for status in
            ["http unix:/run/whit/http.sock\n", "http 192.0.2.7:80\n", "database 1\n", "data history\n"]
        {
            assert_eq!(agent(status), (None, None), "{status}");
        }
    }
}
