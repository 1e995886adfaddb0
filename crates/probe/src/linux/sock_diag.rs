//! Questions about sockets: sock_diag(7).

use facts::linux::genetlink::{NLM_F_REQUEST, Request};
use facts::linux::sock_diag::SOCK_DIAG_BY_FAMILY;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with};

/// Asks with a header and more flags than that it is a request. The answer waits at the socket.
pub(super) fn ask(header: &[u8], flags: u16) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
    bind(&socket, &SocketAddrNetlink::new(0, 0))?;
    let mut message = Vec::new();
    let (kind, flags) = (SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | flags);
    Request { kind, flags, sequence: 1, header, attributes: &[] }.push(&mut message);
    send(&socket, &message, SendFlags::empty())?;
    Ok(socket)
}
