//! What is asked or sent to over HTTP: its address, and the name that distinguishes it from others.

use std::net::Ipv6Addr;

use crate::{Fault, Options, http_headers, http_tls};

/// An address, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTarget {
    /// With the path.
    pub url: String,
    /// Letters, digits, "-", "_" and ".", which can be the name of a file.
    pub name: String,
}

/// Reads `url` and `name`. The usual name is that of the host, with the port.
///
/// # Errors
/// If no request can be made to the address, or the name has other letters.
pub fn read(table: &Options<'_, '_>, example: &str) -> Result<HttpTarget, Fault> {
    let url = table.required_text("url", example)?;
    table.check_http_address("url", url)?;
    table.refuse_password("url", url)?;
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    if host.is_empty() {
        return Err(table.fault_of("url", "expected a host behind the \"//\""));
    }
    if !url.bytes().all(|byte| byte.is_ascii_graphic()) || !is_host(host) {
        return Err(table.fault_of("url", format!("\"{url}\" is not an address")));
    }
    if port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(table.fault_of("url", "expected a port from 1 to 65535 behind the host"));
    }
    let name = match table.text("name")? {
        Some(name) => name.to_owned(),
        None => authority.replace(['[', ']'], "").replace(|letter: char| !is_of_name(letter), "-"),
    };
    if name.is_empty() || name.starts_with('.') || name.len() > 100 || !name.chars().all(is_of_name) {
        return Err(table.fault_of("name", "expected letters, digits, \"-\", \"_\" and \".\""));
    }
    Ok(HttpTarget { url: url.to_owned(), name })
}

/// Returns the names of options of a table: its own, and those of headers and TLS.
pub fn with_http_options(own: &[&'static str]) -> Vec<&'static str> {
    [own, &http_headers::OPTIONS, &http_tls::OPTIONS].concat()
}

/// Returns the fault of a table whose name another one has; `what` is what both are, such as "receiver".
pub fn name_is_taken(table: &Options<'_, '_>, what: &str, name: &str) -> Fault {
    let key = if table.get("name").is_some() { "name" } else { "url" };
    table.fault_of(key, format!("there is a {what} \"{name}\" already: each needs a name of its own"))
}

/// Returns whether a text is a name or an address, an address of version 6 in brackets.
fn is_host(text: &str) -> bool {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => text.chars().all(is_of_name),
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}
