//! /proc/net/snmp, netstat and snmp6: counters of the protocols of a network namespace. net/ipv4/proc.c, net/ipv6/proc.c;
//! Documentation/networking/snmp_counter.rst. The first two are pairs of lines, names and figures; the third has a name on each line.

use super::keyed::keyed;
use crate::cursor::{Cursor, Malformed, lines};

keyed! {
    /// Counters of protocols, those that one of the files has: events since boot. On a 32-bit kernel most of them wrap at 2^32.
    NetProtocols,
    /// A counter, by the names of its protocol and of its own.
    NetProtocolField {
        ActiveOpens = "Tcp_ActiveOpens",
        PassiveOpens = "Tcp_PassiveOpens",
        AttemptFails = "Tcp_AttemptFails",
        EstablishedResets = "Tcp_EstabResets",
        /// No counter: connections that are there now.
        Established = "Tcp_CurrEstab",
        SegmentsReceived = "Tcp_InSegs",
        SegmentsSent = "Tcp_OutSegs",
        SegmentsSentAgain = "Tcp_RetransSegs",
        SegmentErrors = "Tcp_InErrs",
        ResetsSent = "Tcp_OutRsts",
        DatagramsReceived = "Udp_InDatagrams",
        DatagramsWithoutPort = "Udp_NoPorts",
        DatagramErrors = "Udp_InErrors",
        DatagramsSent = "Udp_OutDatagrams",
        ReceiveBufferErrors = "Udp_RcvbufErrors",
        SendBufferErrors = "Udp_SndbufErrors",
        SyncookiesSent = "TcpExt_SyncookiesSent",
        ListenOverflows = "TcpExt_ListenOverflows",
        ListenDrops = "TcpExt_ListenDrops",
        Timeouts = "TcpExt_TCPTimeouts",
        SynSentAgain = "TcpExt_TCPSynRetrans",
        DatagramsReceivedIpv6 = "Udp6_InDatagrams",
        DatagramsWithoutPortIpv6 = "Udp6_NoPorts",
        DatagramErrorsIpv6 = "Udp6_InErrors",
        DatagramsSentIpv6 = "Udp6_OutDatagrams",
        ReceiveBufferErrorsIpv6 = "Udp6_RcvbufErrors",
        SendBufferErrorsIpv6 = "Udp6_SndbufErrors",
    }
}

impl NetProtocols {
    /// Fills from the bytes of /proc/net/snmp or netstat.
    ///
    /// # Errors
    /// If a line of names has no line of figures, or one with fewer of them.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        let mut lines = lines(bytes);
        while let Some(mut names) = lines.next() {
            let Some(protocol) = names.until(b':') else { return Err(names.expected("a protocol")) };
            let mut figures = lines.next().ok_or_else(|| names.expected("a line of figures"))?;
            if figures.until(b':') != Some(protocol) {
                return Err(figures.expected("the figures of the protocol"));
            }
            while let Some(name) = names.word() {
                // RFC 1213 has -1 for "no limit", which none of ours is.
                let value = figures.signed().ok_or_else(|| figures.expected("a figure"))?;
                self.put(protocol, name, value.cast_unsigned());
            }
        }
        Ok(())
    }

    /// Fills from the bytes of /proc/net/snmp6.
    ///
    /// # Errors
    /// If a line has no figure.
    pub fn parse_ipv6(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        for mut line in lines(bytes) {
            let Some(name) = line.word() else { continue };
            let Some(name) = name.strip_prefix(b"Udp6") else { continue };
            let value = line.number().ok_or_else(|| line.expected("a figure"))?;
            self.put(b"Udp6", name, value);
        }
        Ok(())
    }

    /// Sets a counter, if it is one of ours.
    fn put(&mut self, protocol: &[u8], name: &[u8], value: u64) {
        let is_key = |field: &&NetProtocolField| {
            let mut key = Cursor::new(NetProtocolField::KEYS[**field as usize].as_bytes());
            key.skip(protocol) && key.skip(b"_") && key.rest() == name
        };
        if let Some(field) = NetProtocolField::ALL.iter().find(is_key) {
            self.set(*field, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18, shortened, with a column that it does not have.
    const SNMP: &[u8] = b"Ip: Forwarding DefaultTTL\nIp: 1 64\n\
        Tcp: RtoMin MaxConn ActiveOpens New InSegs OutSegs RetransSegs\nTcp: 200 -1 374339 5 4586888 4559382 5655\n\
        Udp: InDatagrams RcvbufErrors\nUdp: 9 3\nUdpLite: InDatagrams RcvbufErrors\nUdpLite: 1 1\n";

    fn snmp(bytes: &[u8]) -> Result<NetProtocols, Malformed> {
        let mut read = NetProtocols::default();
        read.parse(bytes).map(|()| read)
    }

    #[test]
    fn figures_belong_to_the_names_above_them() {
        let read = snmp(SNMP).unwrap();
        let figures = [
            NetProtocolField::ActiveOpens,
            NetProtocolField::SegmentsSent,
            NetProtocolField::SegmentsSentAgain,
            NetProtocolField::ReceiveBufferErrors,
            NetProtocolField::PassiveOpens,
            NetProtocolField::ListenOverflows,
        ];
        let figures = figures.map(|field| read.get(field));
        assert_eq!(figures, [Some(374_339), Some(4_559_382), Some(5655), Some(3), None, None]);
        let extended =
            snmp(b"TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 9 49 50\n").unwrap();
        assert_eq!(extended.get(NetProtocolField::ListenOverflows), Some(49));
    }

    #[test]
    fn a_text_that_is_cut_is_malformed() {
        for bad in [
            "Tcp",
            "Tcp: InSegs",
            "Tcp: InSegs OutSegs\nTcp: 1\n",
            "Tcp: InSegs\nUdp: 1\n",
            "Tcp: InSegs\nTcp: x\n",
        ] {
            assert!(snmp(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn ipv6_has_a_line_for_each() {
        let mut read = NetProtocols::default();
        read.parse_ipv6(
            b"Ip6InReceives   \t0\nUdp6InDatagrams   \t7\nUdp6RcvbufErrors    \t2\nUdpLite6InErrors 4\n",
        )
        .unwrap();
        assert_eq!(read.get(NetProtocolField::DatagramsReceivedIpv6), Some(7));
        assert_eq!(read.get(NetProtocolField::ReceiveBufferErrorsIpv6), Some(2));
        assert_eq!(read.get(NetProtocolField::DatagramErrorsIpv6), None);
        assert!(read.parse_ipv6(b"Udp6InDatagrams\n").is_err());
    }
}
