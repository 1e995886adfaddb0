//! Host names to addresses: /etc/hosts, then the name servers of /etc/resolv.conf (hosts(5), resolv.conf(5)).
//!
//! whit is linked statically: the C library's own resolver would load modules that may not be there, and it has no deadline.

#![forbid(unsafe_code)]

mod name_server;

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::time::{Duration, Instant};

use formats::dns::{Family, Reply};
use formats::resolv_conf::{NameServer, ResolvConf};
use text::printable::printable_text;

use self::name_server::ask;

/// The deadline of callers that have none of their own.
pub const USUAL_TIMEOUT: Duration = Duration::from_secs(10);
const PORT: u16 = 53;

/// The addresses of a host, IPv4 first; never none. An address stands for itself.
///
/// # Errors
/// Says why there is no address: the name is unknown, or no name server answered within `timeout`.
pub fn addresses_of(host: &str, timeout: Duration) -> Result<Vec<IpAddr>, String> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    let hosts = fs::read("/etc/hosts").unwrap_or_default();
    let mut known = formats::hosts::addresses_of(&hosts, host.trim_end_matches('.').as_bytes());
    if known.is_empty() && is_this_host(host) {
        known = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    if !known.is_empty() {
        known.sort_by_key(IpAddr::is_ipv6);
        return Ok(known);
    }
    let resolver = Resolver::of_machine();
    resolver.addresses_of(host, Instant::now() + timeout).map_err(|why| {
        let shown = printable_text(host.as_bytes());
        format!("\"{shown}\" is no address, and not in /etc/hosts; {why}")
    })
}

/// The first address of a host.
///
/// # Errors
/// As for [`addresses_of`].
pub fn address_of(host: &str) -> Result<IpAddr, String> {
    Ok(addresses_of(host, USUAL_TIMEOUT)?[0])
}

/// Returns whether a name means this machine, whatever a name server says: RFC 6761, 6.3.
fn is_this_host(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Asks name servers.
#[derive(Debug)]
struct Resolver {
    servers: Vec<SocketAddr>,
    conf: ResolvConf,
}

impl Resolver {
    /// As this machine's files and variables say.
    fn of_machine() -> Self {
        let text = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        let mut conf = ResolvConf::parse(&text, &probe::host_name());
        if let Ok(domains) = std::env::var("LOCALDOMAIN") {
            conf.set_domains(domains.split_whitespace());
        }
        if let Ok(options) = std::env::var("RES_OPTIONS") {
            conf.set_options(options.split_whitespace());
        }
        let servers = conf.servers.iter().filter_map(socket_address).collect();
        Self { servers, conf }
    }

    /// Asks for each name that a host name may stand for, until one has addresses.
    fn addresses_of(&self, host: &str, until: Instant) -> Result<Vec<IpAddr>, String> {
        let mut why = "no name server knows it".to_owned();
        for name in self.conf.names(host) {
            let mut found = Vec::new();
            for family in [Family::V4, Family::V6] {
                match self.ask_all(&name, family, until) {
                    Ok(addresses) => found.extend(addresses),
                    Err(error) => why = error,
                }
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Err(why)
    }

    /// Asks one server after the other. None if the name has no address of this family.
    fn ask_all(&self, name: &str, family: Family, until: Instant) -> Result<Vec<IpAddr>, String> {
        let mut why = "no name server can be asked: /etc/resolv.conf".to_owned();
        for _ in 0..self.conf.attempts {
            for server in &self.servers {
                let until = until.min(Instant::now() + self.conf.timeout);
                let shown = server.ip();
                match ask(*server, self.conf.uses_tcp, name, family, until) {
                    Ok(Reply::Addresses(addresses)) => return Ok(addresses),
                    Ok(Reply::NoName) => return Ok(Vec::new()),
                    Ok(Reply::Refused(code)) => {
                        why = format!("the name server {shown} refused (code {code})");
                    }
                    Ok(Reply::Truncated) => {
                        why = format!("the name server {shown}: its answer is cut off over TCP, too")
                    }
                    Err(error) => why = format!("the name server {shown}: {error}"),
                }
            }
        }
        Err(why)
    }
}

/// Returns where a server listens; `None` if its interface does not exist.
fn socket_address(server: &NameServer) -> Option<SocketAddr> {
    match (server.address, &server.scope) {
        (IpAddr::V6(address), Some(scope)) => {
            let index = match scope.parse() {
                Ok(index) => index,
                Err(_) => interface_index(scope)?,
            };
            Some(SocketAddrV6::new(address, PORT, 0, index).into())
        }
        (address, _) => Some(SocketAddr::new(address, PORT)),
    }
}

/// Returns the number of an interface, from sysfs; `None` if there is none with this name.
fn interface_index(name: &str) -> Option<u32> {
    let is_name = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
    let file = is_name.then(|| format!("/sys/class/net/{name}/ifindex"))?;
    fs::read_to_string(file).ok()?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests;
