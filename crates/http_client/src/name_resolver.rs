//! Host names of requests to addresses.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use resolver::addresses_of;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Addresses of one host that are tried: the array of ureq has no more.
const MAX_ADDRESSES: usize = 16;

/// Decides which addresses a client may connect to. The connection is made to the addresses that were checked: a name that has another
/// address a moment later changes nothing.
pub struct Guard {
    /// Returns whether an address may be connected to at a port.
    pub is_permitted: Box<dyn Fn(IpAddr, u16) -> bool + Send + Sync>,
    /// The error if a host has no such address, from its name and the port.
    pub refusal: fn(&str, u16) -> String,
}

impl fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Guard").finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct NameResolver {
    pub(super) guard: Option<Guard>,
}

impl Resolver for NameResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let failed = |reason: String| ureq::Error::Other(reason.into());
        let host = uri.host().unwrap_or_default();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(usual);
        let found = addresses_of(host, (*timeout.after).min(resolver::USUAL_TIMEOUT)).map_err(failed)?;
        let is_permitted = |address: &&IpAddr| match &self.guard {
            Some(guard) => (guard.is_permitted)(**address, port),
            None => true,
        };
        let mut addresses = self.empty();
        for address in found.iter().filter(is_permitted).take(MAX_ADDRESSES) {
            addresses.push(SocketAddr::new(*address, port));
        }
        match &self.guard {
            Some(guard) if addresses.is_empty() => Err(failed((guard.refusal)(host, port))),
            _ => Ok(addresses),
        }
    }
}
