//! Servers that listen.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use configuration::{Fault, Options};

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use crate::state::State;

/// The subject is `HOST:PORT`.
#[derive(Debug)]
struct Server;

pub(super) fn read(table: &Options<'_, '_>, subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    check_address(table, "tcp", subject)?;
    Ok(Arc::new(Server))
}

impl Probe for Server {
    fn run(&self, address: &str, limits: &Limits<'_>) -> Outcome {
        connect(address, limits.timeout)
    }
}

/// Refuses the value of an option that is not an address with a port.
pub(super) fn check_address(table: &Options<'_, '_>, key: &str, text: &str) -> Result<(), Fault> {
    let is_port = |port: &str| port.contains('{') || port.parse::<u16>().is_ok();
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && is_port(port) => Ok(()),
        _ => Err(table.fault_of(key, "expected an address and a port, such as \"{address}:22\"")),
    }
}

fn connect(address: &str, timeout: Duration) -> Outcome {
    let begun = Instant::now();
    match open(address, timeout) {
        Ok(_) => {
            let took_s = begun.elapsed().as_secs_f64();
            let text = format!("{address} answered after {:.1} ms", took_s * 1e3);
            Outcome::new(State::Ok, text).with(format!("time={took_s:.6}s"))
        }
        Err(reason) => Outcome::new(State::Critical, reason),
    }
}

/// Connects to the first address of `HOST:PORT` that answers, within the timeout for all of them.
pub(super) fn open(address: &str, timeout: Duration) -> Result<TcpStream, String> {
    let until = Instant::now() + timeout;
    let (host, port) = address.rsplit_once(':').ok_or_else(|| format!("{address}: it has no port"))?;
    let port: u16 = port.parse().map_err(|_| format!("{address}: \"{port}\" is no port"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut reason = String::new();
    for ip in resolver::addresses_of(host, timeout)? {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let address = SocketAddr::new(ip, port);
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => reason = format!("{address}: {error}"),
        }
    }
    Err(reason)
}
