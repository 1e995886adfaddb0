//! The agent that runs: where its history is, and where it answers requests.

use std::net::SocketAddr;
use std::path::PathBuf;

use sampling::agent_client::AgentClient;

use crate::paths;

/// An agent that runs, as its status describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningAgent {
    /// Its data directory.
    pub data: Option<PathBuf>,
    /// Where it answers requests over HTTP, such as `http://127.0.0.1:9140`; `None` if nowhere, or at a Unix socket.
    pub url: Option<String>,
}

/// Finds an agent by its socket, that of the machine first.
pub fn find() -> Option<RunningAgent> {
    let status = |path: PathBuf| AgentClient::connect(&path).ok()?.status().ok();
    paths::agent_sockets().find_map(status).map(|status| described(&status))
}

fn described(status: &str) -> RunningAgent {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    RunningAgent {
        data: value("data").map(PathBuf::from),
        url: value("http").and_then(|address| address.parse().ok()).map(url),
    }
}

fn url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        // It listens at all addresses, and knows users of this one.
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
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
        assert_eq!(agent("http unix:/run/whit/http.sock\n").1, None);
        assert_eq!(agent("database 1\n"), (None, None));
    }
}
