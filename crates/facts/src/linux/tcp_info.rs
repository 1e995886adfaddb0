//! `struct tcp_info`: what TCP knows of a connection. linux/tcp.h, tcp(7).

use core::cmp::Ordering;

/// Segments with data, of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSegments {
    /// Those that were sent.
    pub sent: u32,
    /// Those that were received.
    pub received: u32,
}

/// Whether something was sent that has no answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Nothing was sent, or something was received since.
    None,
    /// Something was.
    Unanswered,
    /// Both were in the same step of the kernel's clock, some milliseconds.
    Unknown,
}

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
    /// Segments with data that were sent and received; `None` on kernels before 4.6.
    pub data_segments: Option<DataSegments>,
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
            data_segments: number(156)
                .zip(number(152))
                .map(|(sent, received)| DataSegments { sent, received }),
            round_trip_us: number(68)?,
            total_retransmitted: number(100)?,
            unsent_bytes: number(144).unwrap_or(0),
        })
    }

    /// Returns whether an answer has not come, if one is due: data was sent after the last that was received.
    pub fn question(&self) -> Question {
        let is_begun = self.data_segments.is_none_or(|segments| segments.sent > 0);
        let is_first = self.data_segments.is_some_and(|segments| segments.received == 0);
        match self.last_sent_ms.cmp(&self.last_received_ms) {
            _ if !is_begun => Question::None,
            Ordering::Less => Question::Unanswered,
            Ordering::Equal if is_first => Question::Unanswered,
            Ordering::Equal => Question::Unknown,
            Ordering::Greater => Question::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_at_their_places() {
        let mut bytes = vec![0; 232];
        for (at, value) in [
            (24, 3u32),
            (32, 1),
            (44, 40),
            (52, 900),
            (68, 12_000),
            (100, 7),
            (144, 5000),
            (152, 8),
            (156, 9),
        ] {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        (bytes[2], bytes[3]) = (4, 2);
        let info = TcpInfo::parse(&bytes).unwrap();
        assert_eq!((info.unacknowledged, info.lost, info.retransmits, info.probes), (3, 1, 4, 2));
        assert_eq!((info.last_sent_ms, info.last_received_ms, info.round_trip_us), (40, 900, 12_000));
        assert_eq!((info.total_retransmitted, info.unsent_bytes), (7, 5000));
        assert_eq!(info.data_segments, Some(DataSegments { sent: 9, received: 8 }));
        let question = |last_received_ms: u32, sent: u32, received: u32| {
            let data_segments = Some(DataSegments { sent, received });
            TcpInfo { last_received_ms, data_segments, ..info }.question()
        };
        assert_eq!((question(900, 9, 8), question(39, 9, 8)), (Question::Unanswered, Question::None));
        assert_eq!((question(40, 9, 8), question(40, 9, 0)), (Question::Unknown, Question::Unanswered));
        assert_eq!(question(900, 0, 0), Question::None);
        // Of an old kernel, and cut short.
        assert_eq!(TcpInfo::parse(&bytes[..104]).map(|info| info.unsent_bytes), Some(0));
        assert_eq!(TcpInfo::parse(&bytes[..103]), None);
    }
}
