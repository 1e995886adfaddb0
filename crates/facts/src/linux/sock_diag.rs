//! Whose a TCP connection is, over diagnostic netlink: linux/sock_diag.h, linux/inet_diag.h; sock_diag(7).

use core::net::{IpAddr, SocketAddr};

use crate::linux::genetlink::Message;

/// Asks for sockets, and the type of the answer.
pub const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Bytes of `struct inet_diag_req_v2`.
pub const REQUEST_BYTES: usize = 56;

const FAMILY_IPV4: u8 = 2;
const FAMILY_IPV6: u8 = 10;
const TCP: u8 = 6;
/// Where `struct inet_diag_sockid` is in the request and in the answer: ports, addresses, interface, cookie.
const ID_IN_REQUEST: usize = 8;
const ID_IN_ANSWER: usize = 4;
/// Its ports and addresses.
const ENDS_BYTES: usize = 4 + 32;
const NO_COOKIE: [u8; 8] = [0xff; 8];
const UID: usize = 64;
const INODE: usize = 68;

/// Asks for the connection from one address to another, both of one family, as its first end has it.
pub fn request(from: SocketAddr, to: SocketAddr) -> [u8; REQUEST_BYTES] {
    let mut request = [0; REQUEST_BYTES];
    request[0] = if from.is_ipv4() { FAMILY_IPV4 } else { FAMILY_IPV6 };
    request[1] = TCP;
    // Any state.
    request[4..8].fill(0xff);
    request[ID_IN_REQUEST..ID_IN_REQUEST + ENDS_BYTES].copy_from_slice(&ends(from, to));
    request[REQUEST_BYTES - NO_COOKIE.len()..].copy_from_slice(&NO_COOKIE);
    request
}

/// The user of the connection that was asked for. `None` if it is another one: without a connection the kernel answers with a socket
/// that listens. Also `None` if no process has it any more: the kernel calls such a one root's.
pub fn user(message: &Message<'_>, from: SocketAddr, to: SocketAddr) -> Option<u32> {
    let number = |at: usize| message.payload.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes);
    let answered = message.payload.get(ID_IN_ANSWER..ID_IN_ANSWER + ENDS_BYTES)?;
    let is_it = message.kind == SOCK_DIAG_BY_FAMILY && answered == ends(from, to).as_slice();
    let has_process = number(INODE)? != 0;
    number(UID).filter(|_| is_it && has_process)
}

/// Ports and addresses in network order.
fn ends(from: SocketAddr, to: SocketAddr) -> [u8; ENDS_BYTES] {
    let mut ends = [0; ENDS_BYTES];
    ends[..2].copy_from_slice(&from.port().to_be_bytes());
    ends[2..4].copy_from_slice(&to.port().to_be_bytes());
    for (place, end) in [(4, from), (20, to)] {
        match end.ip() {
            IpAddr::V4(address) => ends[place..place + 4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => ends[place..place + 16].copy_from_slice(&address.octets()),
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer of Linux 6.18 about a connection from 127.0.0.1:54000 to 127.0.0.1:9140.
    fn answer(uid: u32, inode: u32) -> Vec<u8> {
        let mut payload = vec![2, 1, 0, 0];
        payload.extend(ends("127.0.0.1:54000".parse().unwrap(), "127.0.0.1:9140".parse().unwrap()));
        payload.extend([0; 4 + 8 + 12]);
        payload.extend(uid.to_ne_bytes());
        payload.extend(inode.to_ne_bytes());
        payload
    }

    #[test]
    fn a_connection_has_a_user() {
        let [client, server, other] =
            ["127.0.0.1:54000", "127.0.0.1:9140", "127.0.0.1:54001"].map(|end| end.parse().unwrap());
        let of = |payload: &[u8], from| {
            user(&Message { kind: SOCK_DIAG_BY_FAMILY, sequence: 1, payload }, from, server)
        };
        assert_eq!(of(&answer(1000, 7), client), Some(1000));
        assert_eq!(of(&answer(1000, 7), other), None);
        // It was closed.
        assert_eq!(of(&answer(0, 0), client), None);
        let whole = answer(1000, 7);
        for length in 0..whole.len() {
            assert_eq!(of(&whole[..length], client), None, "{length}");
        }
    }

    #[test]
    fn a_request_is_as_the_kernel_reads_it() {
        let request = request("[::1]:258".parse().unwrap(), "[::2]:9140".parse().unwrap());
        assert_eq!(request[..12], [10, 6, 0, 0, 255, 255, 255, 255, 1, 2, 0x23, 0xb4]);
        assert_eq!((request[27], request[43]), (1, 2));
        assert_eq!(request[44..], [0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    }
}
