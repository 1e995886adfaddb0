//! Requests to the attacked agent.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::arena::text;

/// Writes a text as a part of a query.
pub(super) fn encoded(expression: &str) -> String {
    expression.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
        encoded
    })
}

/// Sends a GET request. Returns the response with its head.
pub(super) fn get(
    address: SocketAddr,
    path: &str,
    headers: &str,
    longest: Duration,
) -> Result<String, String> {
    let mut stream = TcpStream::connect_timeout(&address, longest).map_err(text)?;
    stream.set_read_timeout(Some(longest)).map_err(text)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).map_err(text)?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).map_err(|error| format!("{path}: {error}"))?;
    if reply.is_empty() { Err("the connection was closed".to_owned()) } else { Ok(reply) }
}
