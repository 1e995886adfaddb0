//! Host names to addresses: /etc/hosts, then the name servers of /etc/resolv.conf (hosts(5), resolv.conf(5)).
//!
//! whit is linked statically: the C library's own resolver would load modules that may not be there, and it has no deadline.

#![forbid(unsafe_code)]

mod name_server;

use std::cell::Cell;
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
/// What a server has for one question at least, if there is so much time.
const MIN_PATIENCE: Duration = Duration::from_millis(300);
/// The addresses of one family wait so long for those of the other.
const LATE_FAMILY: Duration = Duration::from_secs(1);

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
    /// The server that answered last: it is asked first.
    first: Cell<usize>,
    conf: ResolvConf,
}

/// Why a name has no addresses.
enum Failure {
    /// There is no such name, or none with an address, or a server could not say: the next domain may have it.
    None(String),
    /// No server answered. Another domain could have another host of this name.
    Silent(String),
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
        Self::new(servers, conf)
    }

    fn new(servers: Vec<SocketAddr>, conf: ResolvConf) -> Self {
        Self { servers, first: Cell::new(0), conf }
    }

    /// Asks for each name that a host name may stand for, until one has addresses.
    fn addresses_of(&self, host: &str, until: Instant) -> Result<Vec<IpAddr>, String> {
        let mut why = "no name server knows it".to_owned();
        for name in self.conf.names(host) {
            let mut found = Vec::new();
            let mut is_silent = false;
            for family in [Family::V4, Family::V6] {
                // Some servers drop questions for the other family: what is known does not wait for them.
                let until = if found.is_empty() { until } else { until.min(Instant::now() + LATE_FAMILY) };
                match self.ask_all(&name, family, until) {
                    Ok(addresses) => found.extend(addresses),
                    Err(Failure::None(error)) => why = error,
                    Err(Failure::Silent(error)) => (why, is_silent) = (error, true),
                }
            }
            if !found.is_empty() {
                return Ok(found);
            }
            if is_silent {
                break;
            }
        }
        Err(why)
    }

    /// Asks one server after the other. None if the name has no address of this family.
    fn ask_all(&self, name: &str, family: Family, until: Instant) -> Result<Vec<IpAddr>, Failure> {
        // With a domain that is searched it may be too long, or have letters that no name has.
        if formats::dns::question(0, name, family).is_none() {
            return Err(Failure::None("it is not a valid name of a host".to_owned()));
        }
        let mut failure = Failure::Silent("no name server can be asked: /etc/resolv.conf".to_owned());
        let count = self.servers.len();
        for _ in 0..self.conf.attempts {
            for number in 0..count {
                let place = (self.first.get() + number) % count;
                // One that is dead leaves time for the others.
                let left = until.saturating_duration_since(Instant::now());
                let others = u32::try_from(count - number).unwrap_or(u32::MAX);
                let patience = self.conf.timeout.min(left / (others + 1)).max(MIN_PATIENCE.min(left));
                let server = self.servers[place];
                let shown = server.ip();
                failure = match ask(server, self.conf.uses_tcp, name, family, Instant::now() + patience) {
                    Ok(Reply::Addresses(addresses) | Reply::Truncated(addresses)) => {
                        self.first.set(place);
                        return Ok(addresses);
                    }
                    Ok(Reply::NoName) => {
                        self.first.set(place);
                        return Ok(Vec::new());
                    }
                    Ok(Reply::Refused(code)) => {
                        Failure::None(format!("the name server {shown} refused (code {code})"))
                    }
                    Err(error) => Failure::Silent(format!("the name server {shown}: {error}")),
                };
                if Instant::now() >= until {
                    return Err(failure);
                }
            }
        }
        Err(failure)
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
