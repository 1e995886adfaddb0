//! How names become addresses that may be fetched.

use std::net::SocketAddr;

use resolver::addresses_of;
use ureq::config::Config;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::addresses::{AllowedNetwork, is_fetched};

/// Finds addresses of hosts, and refuses those that are not fetched. The connection is made to the addresses that were checked: a name
/// that has another address a moment later changes nothing.
#[derive(Debug)]
pub(crate) struct GuardedResolver {
    pub(crate) allowed: Vec<AllowedNetwork>,
}

impl Resolver for GuardedResolver {
    fn resolve(
        &self,
        uri: &http::Uri,
        _config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let failed = |reason: String| ureq::Error::Other(reason.into());
        let host = uri.host().unwrap_or_default();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(usual);
        let found = addresses_of(host, (*timeout.after).min(resolver::USUAL_TIMEOUT)).map_err(failed)?;
        let mut addresses = self.empty();
        for address in found.iter().filter(|address| is_fetched(**address, port, &self.allowed)).take(16) {
            addresses.push(SocketAddr::new(*address, port));
        }
        if addresses.is_empty() {
            // The error does not contain the address: users must not learn what a name resolves to inside the network.
            return Err(failed(format!(
                "the address of {host} is not public, and [feeds] allow does not have it with port {port}"
            )));
        }
        Ok(addresses)
    }
}
