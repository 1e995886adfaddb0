//! Requests over HTTP: a client whose names are resolved by the crate `resolver`, so that no request loads modules of another C library or
//! hangs in one, and that keeps to a deadline.
//!
//! Everything else is ureq: requests, TLS with the system's certificates, redirects.

#![forbid(unsafe_code)]

mod kept_clients;
mod name_resolver;
mod tls;

use std::io::ErrorKind;
use std::time::Duration;

pub use kept_clients::KeptClients;
pub use name_resolver::Guard;
pub use rustls::ClientConnection as TlsConnection;
pub use tls::{Tls, TlsServer, described_tls};
pub use ureq::http::{Response, Uri};
pub use ureq::{Agent as Client, Body, Error, RequestBuilder, Timeout};

use ureq::Agent;
use ureq::config::{Config, ConfigBuilder};
use ureq::typestate::AgentScope;
use ureq::unversioned::transport::DefaultConnector;

use self::name_resolver::NameResolver;

/// The most redirects that a request follows, unless a client is made for fewer.
pub const MAX_REDIRECTS: u32 = 10;

/// Returns how many redirects requests with these headers follow: none with any, since a redirect would take credentials elsewhere.
pub fn redirects_with(headers: &[(String, String)]) -> u32 {
    if headers.is_empty() { MAX_REDIRECTS } else { 0 }
}

/// Makes a client whose requests take no longer than `timeout`, and follow so many redirects; without any, the redirect is the answer. Any status of an answer is an answer.
pub fn client(timeout: Duration, redirects: u32) -> Client {
    client_with(timeout, redirects, &Tls::default())
}

/// Makes such a client with its own trust and identity.
pub fn client_with(timeout: Duration, redirects: u32, tls: &Tls) -> Client {
    with_resolver(limited(timeout, redirects, tls).build(), None)
}

fn limited(timeout: Duration, redirects: u32, tls: &Tls) -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .timeout_global(Some(timeout))
        // So that a server that does not answer is known from one that was not reached.
        .timeout_resolve(Some(timeout / 3))
        .timeout_connect(Some(timeout / 2))
        .http_status_as_error(false)
        .max_redirects(redirects)
        .tls_config(tls.config())
}

/// Makes a client that connects to no address that a guard refuses.
pub fn guarded_client(config: Config, guard: Guard) -> Client {
    with_resolver(config, Some(guard))
}

/// The words of rustls for a server that answers something else than TLS.
const NO_TLS: &str = "received corrupt message";

/// Returns whether a handshake failed because the other end speaks no TLS.
pub fn is_without_tls(error: &Error) -> bool {
    matches!(error, Error::Io(_) | Error::Rustls(_)) && error.to_string().contains(NO_TLS)
}

/// Returns whether there was no connection: a name has no address that can be found, or nothing answers there.
pub fn is_unreached(error: &Error) -> bool {
    match error {
        Error::Timeout(timeout) => matches!(timeout, Timeout::Resolve | Timeout::Connect),
        Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::NetworkDown
                | ErrorKind::AddrNotAvailable
        ),
        // Others are those of the resolver.
        Error::Other(_) | Error::HostNotFound | Error::ConnectionFailed => true,
        _ => false,
    }
}

/// Describes an error.
pub fn described(error: &Error) -> String {
    match error {
        error if is_without_tls(error) => tls::SPEAKS_NO_TLS.to_owned(),
        Error::Io(error) => error.to_string(),
        Error::Other(error) => error.to_string(),
        error => error.to_string(),
    }
}

/// An address without a password, and without what stands behind its path, which may be a key.
pub fn shown_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}/{path}")
}

fn with_resolver(config: Config, guard: Option<Guard>) -> Client {
    Agent::with_parts(config, DefaultConnector::default(), NameResolver { guard })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(
            shown_url("https://ann:secret@store:8428/api/v1/write?key=1"),
            "https://store:8428/api/v1/write"
        );
        assert_eq!(shown_url("http://store/a@b"), "http://store/a@b");
    }
}
