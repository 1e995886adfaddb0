//! /proc/net/dev: traffic of each interface. proc_pid_net(5).

use crate::cursor::{Malformed, lines};
use crate::name::Name;

/// Traffic of one interface since it came up. On a 32-bit kernel the counters wrap at 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// `eth0`.
    pub name: Name,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Receive errors.
    pub receive_errors: u64,
    /// Packets dropped on the way in.
    pub receive_drops: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Send errors.
    pub send_errors: u64,
    /// Packets dropped on the way out.
    pub send_drops: u64,
}

/// /proc/net/dev.
#[derive(Clone, Debug, Default)]
pub struct NetDev {
    /// In the kernel's order.
    pub interfaces: Vec<Interface>,
}

impl NetDev {
    /// Fills from the bytes of /proc/net/dev.
    ///
    /// # Errors
    /// If an interface's line is short of figures.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.interfaces.clear();
        let mut lines = lines(bytes);
        // The head of the table; not by `skip`, whose code a tick would have to load.
        lines.next();
        lines.next();
        for mut line in lines {
            line.skip_blanks();
            // An alias such as "eth0:1" carries a colon in its name; the last one ends it. The figures have none.
            let rest = line.rest();
            let Some(colon) = rest.iter().rposition(|byte| *byte == b':') else {
                return Err(line.expected("an interface's name"));
            };
            let name = Name::new(&rest[..colon]);
            line.skip(&rest[..=colon]);
            let mut figures = [0; 12];
            for figure in &mut figures {
                *figure = line.number().ok_or_else(|| line.expected("a counter"))?;
            }
            let [received_bytes, received_packets, receive_errors, receive_drops, _, _, _, _, sent @ ..] =
                figures;
            let [sent_bytes, sent_packets, send_errors, send_drops] = sent;
            self.interfaces.push(Interface {
                name,
                received_bytes,
                received_packets,
                receive_errors,
                receive_drops,
                sent_bytes,
                sent_packets,
                send_errors,
                send_drops,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_kernels_put_no_blank_after_the_colon() {
        let text =
            b"Inter-|\n face |\n  eth0:1234 5 0 0 0 0 0 0 99 3 1 2 0 0 0 0\nv.1:a: 1 1 1 1 1 1 1 1 2 2 2 2\n";
        let mut net = NetDev::default();
        net.parse(text).unwrap();
        assert_eq!(net.interfaces[0].received_bytes, 1234);
        assert_eq!(net.interfaces[0].send_drops, 2);
        assert_eq!(net.interfaces[1].name.as_str(), "v.1:a");
    }

    #[test]
    fn a_cut_line_is_refused() {
        assert!(NetDev::default().parse(b"\n\n  eth0: 1 2 3\n").is_err());
    }
}
