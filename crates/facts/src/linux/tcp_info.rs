//! `struct tcp_info`: what TCP knows of a connection. linux/tcp.h, tcp(7).

/// A part of `struct tcp_info`. Times are in milliseconds before now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segments that were sent and are not acknowledged.
    pub unacknowledged: u32,
    /// Segments that are taken for lost.
    pub lost: u32,
    /// Timeouts in a row after which the same segment was sent again.
    pub retransmits: u8,
    /// Probes in a row of a window that is closed.
    pub probes: u8,
    /// Since data was last sent.
    pub last_sent_ms: u32,
    /// Since data was last received; if none was, since the connection began.
    pub last_received_ms: u32,
    /// Segments with data that were sent; `None` on kernels before 4.6.
    pub data_segments_sent: Option<u32>,
    /// The time of a round trip, in microseconds.
    pub round_trip_us: u32,
    /// Segments that were sent again since it began.
    pub total_retransmitted: u32,
    /// Bytes in the queue that were not sent yet; 0 on kernels before 4.6.
    pub unsent_bytes: u32,
}

impl TcpInfo {
    /// Parses the bytes that a kernel gives, which may be more or fewer; `None` if one of the figures of Linux 2.6 is missing.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes);
        Some(Self {
            retransmits: *bytes.get(2)?,
            probes: *bytes.get(3)?,
            unacknowledged: number(24)?,
            lost: number(32)?,
            last_sent_ms: number(44)?,
            last_received_ms: number(52)?,
            data_segments_sent: number(156),
            round_trip_us: number(68)?,
            total_retransmitted: number(100)?,
            unsent_bytes: number(144).unwrap_or(0),
        })
    }

    /// Returns whether data was sent after the last that was received: if an answer is due, it has not come. Who answers at once and asks again
    /// does both within the step of the kernel's clock.
    pub fn is_unanswered(&self) -> bool {
        self.data_segments_sent != Some(0) && self.last_sent_ms <= self.last_received_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_at_their_places() {
        let mut bytes = vec![0; 232];
        for (at, value) in
            [(24, 3u32), (32, 1), (44, 40), (52, 900), (68, 12_000), (100, 7), (144, 5000), (156, 9)]
        {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        (bytes[2], bytes[3]) = (4, 2);
        let info = TcpInfo::parse(&bytes).unwrap();
        assert_eq!((info.unacknowledged, info.lost, info.retransmits, info.probes), (3, 1, 4, 2));
        assert_eq!((info.last_sent_ms, info.last_received_ms, info.round_trip_us), (40, 900, 12_000));
        assert_eq!((info.total_retransmitted, info.unsent_bytes, info.is_unanswered()), (7, 5000, true));
        // It has received no data, and then: it has not sent any.
        bytes[52..56].copy_from_slice(&40u32.to_ne_bytes());
        let is_unanswered = |bytes: &[u8]| TcpInfo::parse(bytes).unwrap().is_unanswered();
        assert!(is_unanswered(&bytes));
        bytes[156..160].fill(0);
        assert!(!is_unanswered(&bytes));
        // Of an old kernel, and cut short.
        assert_eq!(TcpInfo::parse(&bytes[..104]).map(|info| info.unsent_bytes), Some(0));
        assert_eq!(TcpInfo::parse(&bytes[..103]), None);
    }
}
