//! /proc/net/tcp and tcp6: connections and whose they are (proc(5), net/ipv4/tcp_ipv4.c).

use core::net::{IpAddr, SocketAddr};

/// The user of the connection from one address to another; `None` if it is not in the table, or no process has it any more: the table
/// calls such a one root's, without an inode.
pub fn user_of(table: &[u8], from: SocketAddr, to: SocketAddr) -> Option<u32> {
    let (from, to) = (written(from), written(to));
    std::str::from_utf8(table).ok()?.lines().skip(1).find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_it = words.next()? == from && words.next()? == to;
        // Behind state, queues, timers and retransmissions; between them a timeout.
        let (uid, inode) = if is_it { (words.nth(4)?, words.nth(1)?) } else { return None };
        uid.parse().ok().filter(|_| inode != "0")
    })
}

/// As the kernel writes it: words of 32 bits in the machine's order, and the port.
fn written(address: SocketAddr) -> String {
    let words: Vec<u8> = match address.ip() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let words = words.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_ne_bytes));
    let hexadecimal: String = words.map(|word| format!("{word:08X}")).collect();
    format!("{hexadecimal}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:23B4 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 118 1 0 100 0 0 10 0
   1: 0100007F:D2F0 0100007F:23B4 01 00000000:00000000 00:00000000 00000000  1000        0 991 1 0 20 4 30 10 -1
";

    #[test]
    fn a_connection_has_a_user() {
        let client = "127.0.0.1:54000".parse().unwrap();
        let server = "127.0.0.1:9140".parse().unwrap();
        assert_eq!(user_of(TABLE, client, server), Some(1000));
        assert_eq!(user_of(TABLE, server, client), None);
        assert_eq!(user_of(b"\xff", server, client), None);
        let closed = b"h\n 0: 0100007F:D2F0 0100007F:23B4 06 00000000:00000000 03:000016C8 00000000     0        0 0 3 0";
        assert_eq!(user_of(closed, client, server), None);
        let six = b"h\n 0: 00000000000000000000000001000000:0001 00000000000000000000000001000000:0002 01 0:0 0:0 0 7 0 9";
        assert_eq!(user_of(six, "[::1]:1".parse().unwrap(), "[::1]:2".parse().unwrap()), Some(7));
    }
}
