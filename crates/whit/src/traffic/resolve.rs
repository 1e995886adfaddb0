//! From the name of a host to its address: /etc/hosts, then the name servers of /etc/resolv.conf.
//!
//! whit is linked statically, where the C library's own resolver would load modules that are not there.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use formats::dns::{self, Family, Reply};
use text::printable::printable_text;

use probe::random;

/// Of one server, for one question.
const PATIENCE: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 2;

/// The address of a host, IPv4 first.
///
/// # Errors
/// Says why there is none.
pub(super) fn address_of(host: &str) -> Result<IpAddr, String> {
    if host == "localhost" {
        return Ok(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let hosts = fs::read("/etc/hosts").unwrap_or_default();
    if let Some(address) = formats::hosts::address_of(&hosts, host.as_bytes()) {
        return Ok(address);
    }
    let shown = printable_text(host.as_bytes());
    let (mut servers, domains) =
        dns::resolv_conf(&fs::read_to_string("/etc/resolv.conf").unwrap_or_default());
    if servers.is_empty() {
        servers.push(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    // A name with a dot is taken as it is; others are of a domain of one's own.
    let names: Vec<String> = match host.contains('.') || domains.is_empty() {
        true => vec![host.to_owned()],
        false => domains.iter().map(|domain| format!("{host}.{domain}")).collect(),
    };
    let mut why = "no name server knows it".to_owned();
    for name in &names {
        for family in [Family::V4, Family::V6] {
            match ask_all(&servers, name, family) {
                Ok(Some(address)) => return Ok(address),
                Ok(None) => {}
                Err(error) => why = error,
            }
        }
    }
    Err(format!("\"{shown}\" is no address, and not in /etc/hosts; {why}"))
}

/// Asks one server after the other. `None` if there is no address of this kind.
fn ask_all(servers: &[IpAddr], name: &str, family: Family) -> Result<Option<IpAddr>, String> {
    let mut why = String::new();
    for _ in 0..ATTEMPTS {
        for server in servers {
            match ask(*server, name, family) {
                Ok(Reply::Addresses(addresses)) => return Ok(addresses.into_iter().next()),
                Ok(Reply::NoName) => return Ok(None),
                Ok(Reply::Refused(code)) => why = format!("the name server {server} refused (code {code})"),
                Err(error) => why = format!("the name server {server}: {error}"),
            }
        }
    }
    Err(why)
}

fn ask(server: IpAddr, name: &str, family: Family) -> Result<Reply, String> {
    let fail = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    };
    let id = u16::try_from(random::number() & 0xffff).unwrap_or_default();
    let question = dns::question(id, name, family).ok_or_else(|| "it is no name".to_owned())?;
    let own: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Connected, so that nobody else's answer is taken.
    let socket = UdpSocket::bind((own, 0)).map_err(fail)?;
    socket.connect((server, 53)).map_err(fail)?;
    socket.send(&question).map_err(fail)?;
    let until = Instant::now() + PATIENCE;
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
