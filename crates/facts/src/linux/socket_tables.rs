//! The sockets of a network namespace, over diagnostic netlink: linux/inet_diag.h, linux/unix_diag.h; sock_diag(7). Since Linux 3.3.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::genetlink::{Attributes, Message};
use super::sock_diag::SOCK_DIAG_BY_FAMILY;
use super::tcp_info::TcpInfo;

/// Bytes of `struct inet_diag_req_v2`.
const INET_REQUEST_BYTES: usize = 56;
/// Bytes of `struct unix_diag_req`.
const UNIX_REQUEST_BYTES: usize = 24;
/// Bytes of `struct inet_diag_msg` and of `struct unix_diag_msg`; attributes follow.
const INET_BYTES: usize = 72;
const UNIX_BYTES: usize = 16;

const UNIX: u8 = 1;
const IPV4: u8 = 2;
const IPV6: u8 = 10;
/// `TCP_LISTEN`.
const LISTENS: u8 = 10;
/// `INET_DIAG_INFO`, and the bit that asks for it.
const INFO: u16 = 2;
const ASKS_INFO: u8 = 1 << (INFO - 1);
/// `INET_DIAG_SKMEMINFO`, and its bit.
const MEMORY: u16 = 7;
const ASKS_MEMORY: u8 = 1 << (MEMORY - 1);
/// The places in it of `SK_MEMINFO_RMEM_ALLOC`, `SK_MEMINFO_RCVBUF` and `SK_MEMINFO_DROPS`.
const RECEIVED: usize = 0;
const RECEIVE_BUFFER: usize = 4;
const DROPS: usize = 8 * 4;
/// `UDIAG_SHOW_NAME` and `UDIAG_SHOW_PEER`, and the attributes that come.
const ASKS_NAME_AND_PEER: u32 = 1 | 4;
const NAME: u16 = 0;
const PEER: u16 = 2;

/// A protocol whose sockets have addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InetProtocol {
    /// tcp(7).
    Tcp,
    /// udp(7).
    Udp,
}

impl InetProtocol {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        }
    }
}

/// The memory of what a socket received, and what it lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveMemory {
    /// Memory that is in use, overhead included, in bytes.
    pub used_bytes: u32,
    /// Memory that may be used, in bytes.
    pub buffer_bytes: u32,
    /// What was dropped since it was made: datagrams, or of one that listens attempts to connect. Since Linux 4.7; 0 before.
    pub drops: u32,
}

/// A socket of TCP or UDP.
#[derive(Clone, Debug, PartialEq)]
pub struct InetSocket {
    /// As /proc/PID/fd names it; 0 if no process has it yet, or any more.
    pub inode: u32,
    /// Its own end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// It waits for clients.
    pub is_listening: bool,
    /// Bytes that its process has not read; of one that listens connections that were not accepted.
    pub unread: u32,
    /// Of one that listens the connections that it has room for; of others bytes that are not sent or acknowledged.
    pub room: u32,
    /// The memory of what it received; `None` on kernels that do not say it.
    pub memory: Option<ReceiveMemory>,
    /// TCP's own account.
    pub tcp: Option<TcpInfo>,
}

/// A socket of unix(7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnixSocket {
    /// As /proc/PID/fd names it.
    pub inode: u32,
    /// The other end; `None` if it is not connected.
    pub peer: Option<u32>,
    /// The path to which it is bound, with `@` in place of the zero of an abstract one.
    pub name: Option<String>,
}

/// Asks for all sockets of a protocol, of version 4 or 6 of IP.
pub fn inet_request(protocol: InetProtocol, is_ipv6: bool) -> [u8; INET_REQUEST_BYTES] {
    let mut request = [0; INET_REQUEST_BYTES];
    request[0] = if is_ipv6 { IPV6 } else { IPV4 };
    request[1] = match protocol {
        InetProtocol::Tcp => 6,
        InetProtocol::Udp => 17,
    };
    request[2] = ASKS_INFO | ASKS_MEMORY;
    // Any state.
    request[4..8].fill(0xff);
    request
}

/// Asks for all sockets of unix(7).
pub fn unix_request() -> [u8; UNIX_REQUEST_BYTES] {
    let mut request = [0; UNIX_REQUEST_BYTES];
    request[0] = UNIX;
    request[4..8].fill(0xff);
    request[12..16].copy_from_slice(&ASKS_NAME_AND_PEER.to_ne_bytes());
    request
}

impl ReceiveMemory {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes);
        let (used_bytes, buffer_bytes) = (number(RECEIVED)?, number(RECEIVE_BUFFER)?);
        Some(Self { used_bytes, buffer_bytes, drops: number(DROPS).unwrap_or(0) })
    }
}

/// Reads an answer; `None` if it is another one.
pub fn inet_socket(message: &Message<'_>) -> Option<InetSocket> {
    let fixed: &[u8; INET_BYTES] = message.payload.first_chunk()?;
    let number = |at: usize| u32::from_ne_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let port = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let address = |at: usize| match fixed[0] {
        IPV4 => Some(IpAddr::V4(Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]))),
        IPV6 => {
            let octets: [u8; 16] = fixed[at..at + 16].try_into().ok()?;
            Some(Ipv6Addr::from(octets).to_canonical())
        }
        _ => None,
    };
    if message.kind != SOCK_DIAG_BY_FAMILY {
        return None;
    }
    let attribute = |wanted| {
        let found = Attributes(&message.payload[INET_BYTES..]).find(|(kind, _)| *kind == wanted);
        found.map(|(_, bytes)| bytes)
    };
    Some(InetSocket {
        inode: number(68),
        local: SocketAddr::new(address(8)?, port(4)),
        remote: SocketAddr::new(address(24)?, port(6)),
        is_listening: fixed[1] == LISTENS,
        unread: number(56),
        room: number(60),
        memory: attribute(MEMORY).and_then(ReceiveMemory::parse),
        tcp: attribute(INFO).and_then(TcpInfo::parse),
    })
}

/// Reads an answer; `None` if it is another one.
pub fn unix_socket(message: &Message<'_>) -> Option<UnixSocket> {
    let fixed: &[u8; UNIX_BYTES] = message.payload.first_chunk()?;
    if message.kind != SOCK_DIAG_BY_FAMILY || fixed[0] != UNIX {
        return None;
    }
    let inode = u32::from_ne_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
    let (mut peer, mut name) = (None, None);
    for (kind, value) in Attributes(&message.payload[UNIX_BYTES..]) {
        match kind {
            PEER => peer = value.first_chunk().copied().map(u32::from_ne_bytes).filter(|peer| *peer != 0),
            NAME if !value.is_empty() => name = Some(written(value)),
            _ => {}
        }
    }
    Some(UnixSocket { inode, peer, name })
}

fn written(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    match text.strip_prefix('\0') {
        Some(rest) => format!("@{}", rest.replace('\0', "@")),
        None => text.trim_end_matches('\0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(payload: &[u8]) -> Message<'_> {
        Message { kind: SOCK_DIAG_BY_FAMILY, sequence: 1, payload }
    }

    /// The answer of Linux 6.18 about a connection from 127.0.0.1:54000 to 127.0.0.1:9140, without attributes.
    fn connection() -> Vec<u8> {
        let mut payload = vec![IPV4, 1, 0, 0, 0xd2, 0xf0, 0x23, 0xb4, 127, 0, 0, 1];
        payload.resize(24, 0);
        payload.extend([127, 0, 0, 1]);
        payload.resize(INET_BYTES, 0);
        payload[56] = 5;
        payload[68] = 7;
        payload
    }

    #[test]
    fn connections_have_ends() {
        let mut payload = connection();
        let socket = inet_socket(&message(&payload)).unwrap();
        assert_eq!(socket.local, "127.0.0.1:54000".parse().unwrap());
        assert_eq!(socket.remote, "127.0.0.1:9140".parse().unwrap());
        assert_eq!((socket.inode, socket.unread, socket.is_listening, socket.tcp), (7, 5, false, None));
        payload[1] = LISTENS;
        payload[60] = 4;
        let mut memory = vec![40, 0, 7, 0];
        memory.extend([1, 0, 0, 0, 2, 0, 0, 0]);
        memory.extend([0; DROPS - 8]);
        memory.extend([9, 0, 0, 0]);
        let listening = inet_socket(&message(&[&payload[..], &memory].concat())).unwrap();
        let memory = ReceiveMemory { used_bytes: 1, buffer_bytes: 2, drops: 9 };
        assert_eq!((listening.is_listening, listening.room, listening.memory), (true, 4, Some(memory)));
        // An address of version 4 in one of version 6 is the former.
        payload[0] = IPV6;
        payload[8..24].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1]);
        assert_eq!(inet_socket(&message(&payload)).unwrap().local, "192.0.2.1:54000".parse().unwrap());
        for length in 0..INET_BYTES {
            assert_eq!(inet_socket(&message(&payload[..length])), None);
        }
    }

    #[test]
    fn unix_sockets_have_peers() {
        let mut payload = vec![UNIX, 1, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        payload.extend([8, 0, 2, 0, 5, 0, 0, 0, 8, 0, 0, 0, 0, b'a', b'b', 0]);
        let socket = unix_socket(&message(&payload)).unwrap();
        assert_eq!((socket.inode, socket.peer, socket.name.as_deref()), (9, Some(5), Some("@ab@")));
        for length in 0..payload.len() {
            let _ = unix_socket(&message(&payload[..length]));
        }
        let name = |bytes: &[u8]| written(bytes);
        assert_eq!((name(b"/run/a\0"), name(b"\0x")), ("/run/a".to_owned(), "@x".to_owned()));
    }

    #[test]
    fn requests_are_as_the_kernel_reads_them() {
        assert_eq!(inet_request(InetProtocol::Udp, true)[..8], [10, 17, 0x42, 0, 255, 255, 255, 255]);
        assert_eq!(unix_request()[..8], [1, 0, 0, 0, 255, 255, 255, 255]);
    }
}
