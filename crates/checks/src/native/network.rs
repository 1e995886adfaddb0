//! Servers: that they listen, and that they answer.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use http_client::{MOST_REDIRECTS, client};

use super::outcome::Outcome;
use super::subject::HttpCheck;
use crate::state::State;

/// Of an answer so much is looked at.
const MOST_BODY_BYTES: u64 = 1 << 20;

pub(super) fn connect(address: &str, timeout: Duration) -> Outcome {
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

pub(super) fn get(wanted: &HttpCheck, timeout: Duration) -> Outcome {
    let begun = Instant::now();
    let mut response = match client(timeout, MOST_REDIRECTS).get(&wanted.url).call() {
        Ok(response) => response,
        Err(error) => return Outcome::new(State::Critical, format!("{}: {error}", wanted.url)),
    };
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(MOST_BODY_BYTES).read_to_vec();
    let took = begun.elapsed();
    let is_expected = match wanted.statuses.as_slice() {
        [] => status < 400,
        statuses => statuses.contains(&status),
    };
    let has_text = |text: &String| {
        body.as_ref().is_ok_and(|body| body.windows(text.len()).any(|part| part == text.as_bytes()))
    };
    let (state, what) = if !is_expected {
        (State::Critical, format!("answered with {status}"))
    } else if let Some(text) = wanted.contains.as_ref().filter(|text| !has_text(text)) {
        (State::Critical, format!("answered without \"{text}\""))
    } else if wanted.slow.is_some_and(|slow| took > slow) {
        (State::Warning, format!("answered with {status}, slowly"))
    } else {
        (State::Ok, format!("answered with {status}"))
    };
    let size = body.map_or(0, |body| body.len());
    let took_s = took.as_secs_f64();
    let text = format!("{} {what} after {:.1} ms", wanted.url, took_s * 1e3);
    Outcome::new(state, text).with(format!("time={took_s:.6}s size={size}B"))
}
