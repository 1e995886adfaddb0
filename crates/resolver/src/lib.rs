//! Host names to addresses: /etc/hosts, then the name servers of /etc/resolv.conf (hosts(5), resolv.conf(5)).
//!
//! whit is linked statically: the C library's own resolver would load modules that may not be there, and it has no deadline.

#![forbid(unsafe_code)]

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use formats::dns::{self, Family, Reply};
use probe::random;
use text::printable::printable_text;

/// One name server has so long for one question.
const PATIENCE: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 2;
/// The deadline of callers that have none of their own.
pub const USUAL_TIMEOUT: Duration = Duration::from_secs(10);

/// The addresses of a host, IPv4 first; never none. An address stands for itself.
///
/// # Errors
/// Says why there is no address: the name is unknown, or no name server answered within `timeout`.
pub fn addresses_of(host: &str, timeout: Duration) -> Result<Vec<IpAddr>, String> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    if host == "localhost" {
        return Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    }
    let hosts = fs::read("/etc/hosts").unwrap_or_default();
    if let Some(address) = formats::hosts::address_of(&hosts, host.as_bytes()) {
        return Ok(vec![address]);
    }
    let (mut servers, domains) =
        dns::resolv_conf(&fs::read_to_string("/etc/resolv.conf").unwrap_or_default());
    if servers.is_empty() {
        servers.push(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    // A name with a dot is complete; others are completed by the machine's domains.
    let names: Vec<String> = match host.contains('.') || domains.is_empty() {
        true => vec![host.to_owned()],
        false => domains.iter().map(|domain| format!("{host}.{domain}")).collect(),
    };
    let until = Instant::now() + timeout;
    let mut why = "no name server knows it".to_owned();
    for name in &names {
        let mut found = Vec::new();
        for family in [Family::V4, Family::V6] {
            match ask_all(&servers, name, family, until) {
                Ok(addresses) => found.extend(addresses),
                Err(error) => why = error,
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let shown = printable_text(host.as_bytes());
    Err(format!("\"{shown}\" is no address, and not in /etc/hosts; {why}"))
}

/// The first address of a host.
///
/// # Errors
/// As for [`addresses_of`].
pub fn address_of(host: &str) -> Result<IpAddr, String> {
    Ok(addresses_of(host, USUAL_TIMEOUT)?[0])
}

/// Asks one server after the other. None if the name has no address of this family.
fn ask_all(servers: &[IpAddr], name: &str, family: Family, until: Instant) -> Result<Vec<IpAddr>, String> {
    let mut why = String::new();
    for _ in 0..ATTEMPTS {
        for server in servers {
            match ask(*server, name, family, until) {
                Ok(Reply::Addresses(addresses)) => return Ok(addresses),
                Ok(Reply::NoName) => return Ok(Vec::new()),
                Ok(Reply::Refused(code)) => why = format!("the name server {server} refused (code {code})"),
                Err(error) => why = format!("the name server {server}: {error}"),
            }
        }
    }
    Err(why)
}

fn ask(server: IpAddr, name: &str, family: Family, until: Instant) -> Result<Reply, String> {
    let fail = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    };
    let id = u16::try_from(random::number() & 0xffff).unwrap_or_default();
    let question = dns::question(id, name, family).ok_or_else(|| "it is no name".to_owned())?;
    let own: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Connected: the kernel drops answers from other addresses.
    let socket = UdpSocket::bind((own, 0)).map_err(fail)?;
    socket.connect((server, 53)).map_err(fail)?;
    socket.send(&question).map_err(fail)?;
    let until = until.min(Instant::now() + PATIENCE);
    let mut memory = [0; dns::MOST_BYTES];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no answer".to_owned());
        }
        socket.set_read_timeout(Some(left)).map_err(fail)?;
        let length = socket.recv(&mut memory).map_err(fail)?;
        if let Some(reply) = dns::reply(&question, &memory[..length]) {
            return Ok(reply);
        }
    }
}
