//! The user that a connection of this machine belongs to: not read yet (sysctl net.inet.tcp.pcblist), so that it is never known.

use std::net::SocketAddr;

/// Finds the users of connections.
#[derive(Debug, Default)]
pub struct ConnectionUsers;

impl ConnectionUsers {
    /// `None`: it is not known.
    pub fn user(&self, _from: SocketAddr, _to: SocketAddr) -> Option<u32> {
        None
    }
}
