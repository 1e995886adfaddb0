//! Where a socket is, and sockets for that.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, getsockname, listen, socket_with,
    sockopt,
};

use text::printable::Shown as _;

/// A place to listen at or to send to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    Unix(PathBuf),
}

/// Connections that wait to be accepted; the kernel bounds it by net.core.somaxconn.
const BACKLOG: i32 = 4096;
const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// Milliseconds for which a full queue is waited for.
#[derive(Debug)]
pub(crate) struct Patience(u32);

impl Default for Patience {
    fn default() -> Self {
        Self(2_000)
    }
}

impl Address {
    /// From `HOST:PORT`: an address, or a name in /etc/hosts or of a name server.
    pub(crate) fn parse_host(text: &str) -> Result<SocketAddr, String> {
        if let Ok(address) = text.parse() {
            return Ok(address);
        }
        let is_address = text.parse::<IpAddr>().is_ok();
        let (host, port) = text.rsplit_once(':').filter(|_| !is_address).ok_or_else(|| {
            let example = if text.contains(':') { format!("[{text}]:7000") } else { format!("{text}:7000") };
            format!("the port is missing: write HOST:PORT, for instance {example}")
        })?;
        let port = port.parse().map_err(|_| format!("\"{port}\" is no port"))?;
        Ok(SocketAddr::new(resolver::address_of(host)?, port))
    }

    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    pub(crate) fn is_udp(&self) -> bool {
        matches!(self, Self::Udp(_))
    }

    fn socket(&self) -> io::Result<OwnedFd> {
        let (family, kind) = match self {
            Self::Tcp(address) => (AddressFamily::of(address), SocketType::STREAM),
            Self::Udp(address) => (AddressFamily::of(address), SocketType::DGRAM),
            Self::Unix(_) => (AddressFamily::UNIX, SocketType::STREAM),
        };
        Ok(socket_with(family, kind, FLAGS, None)?)
    }

    /// A socket that is bound here, and listens if it is one of streams; `is_shared` with those of other threads.
    pub(crate) fn listen(&self, is_shared: bool) -> io::Result<OwnedFd> {
        let socket = self.socket()?;
        match self {
            Self::Tcp(address) => {
                sockopt::set_socket_reuseaddr(&socket, true)?;
                if is_shared {
                    probe::sockets::share_port(&socket)?;
                }
                bind(&socket, address)?;
                listen(&socket, BACKLOG)?;
            }
            Self::Udp(address) => {
                if is_shared {
                    probe::sockets::share_port(&socket)?;
                }
                // As much as may wait; the kernel bounds it by net.core.rmem_max.
                let _ = sockopt::set_socket_recv_buffer_size(&socket, 8 << 20);
                bind(&socket, address)?;
            }
            Self::Unix(path) => {
                bind(&socket, &SocketAddrUnix::new(path)?).map_err(|error| match error {
                    Errno::ADDRINUSE => {
                        io::Error::other("the file exists: remove it if no process listens there")
                    }
                    error => error.into(),
                })?;
                listen(&socket, BACKLOG)?;
            }
        }
        Ok(socket)
    }

    /// Returns this address with the port that the kernel chose for a socket that was bound here.
    pub(crate) fn bound(&self, socket: &OwnedFd) -> io::Result<Self> {
        let chosen = || -> io::Result<SocketAddr> { Ok(getsockname(socket)?.try_into()?) };
        Ok(match self {
            Self::Tcp(_) => Self::Tcp(chosen()?),
            Self::Udp(_) => Self::Udp(chosen()?),
            Self::Unix(path) => Self::Unix(path.clone()),
        })
    }

    /// Connects a socket to this address; the socket is writable when it is connected. A peer that takes none of a Unix socket's
    /// connections is waited for once, not by each.
    pub(crate) fn connect(&self, patience: &mut Patience) -> io::Result<OwnedFd> {
        let socket = self.socket()?;
        let try_once = || match self {
            Self::Tcp(address) | Self::Udp(address) => connect(&socket, address),
            Self::Unix(path) => connect(&socket, &SocketAddrUnix::new(path)?),
        };
        let mut connected = try_once();
        // A Unix socket whose queue is full fails at once, and does not report when there is room.
        while connected == Err(Errno::AGAIN) && patience.0 > 0 {
            patience.0 -= 1;
            std::thread::sleep(std::time::Duration::from_millis(1));
            connected = try_once();
        }
        match connected {
            Ok(()) | Err(Errno::INPROGRESS) => {
                *patience = Patience::default();
                Ok(socket)
            }
            Err(error) => Err(error.into()),
        }
    }
}

trait Of {
    fn of(address: &SocketAddr) -> Self;
}

impl Of for AddressFamily {
    fn of(address: &SocketAddr) -> Self {
        if address.is_ipv4() { Self::INET } else { Self::INET6 }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Udp(address) => write!(f, "{address} (UDP)"),
            Self::Unix(path) => write!(f, "{}", path.shown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_addresses_or_in_the_file() {
        assert_eq!(Address::parse_host("127.0.0.1:5").map(|address| address.port()), Ok(5));
        assert_eq!(Address::parse_host("[::1]:5").map(|address| address.is_ipv6()), Ok(true));
        assert_eq!(Address::parse_host("localhost:5").map(|address| address.ip().is_loopback()), Ok(true));
        for wrong in ["localhost", "localhost:x", ""] {
            assert!(Address::parse_host(wrong).is_err(), "{wrong}");
        }
    }
}
