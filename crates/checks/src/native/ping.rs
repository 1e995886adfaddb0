//! Echo requests: RFC 792 and RFC 4443, icmp(7).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use configuration::{Fault, Options};
use rustix::fd::OwnedFd;
use rustix::net::sockopt::Timeout;
use rustix::net::sockopt::set_socket_timeout;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto};

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use crate::state::State;

/// Between two requests.
const INTERVAL: Duration = Duration::from_millis(100);
/// After the last request an answer may take so long, unless the timeout of the check is shorter.
const PATIENCE: Duration = Duration::from_secs(2);
const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;
const ECHO_REQUEST_6: u8 = 128;
const ECHO_REPLY_6: u8 = 129;
const HEADER_BYTES: usize = 8;

/// A ping takes a tenth of a second and more.
const MAX_PACKETS: f64 = 100.0;
const USUAL_PACKETS: u16 = 5;

/// How a host is to answer.
#[derive(Debug)]
struct Ping {
    /// How many requests are sent. If some are lost, that is a warning; if all are, it is critical.
    packets: u16,
    /// A slower mean is a warning.
    slow: Option<Duration>,
}

pub(super) fn read(table: &Options<'_, '_>, _subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    let packets = table.number("packets", 1.0, MAX_PACKETS)?;
    let packets = packets.map_or(USUAL_PACKETS, |count| count as u16);
    Ok(Arc::new(Ping { packets, slow: table.duration("slow")? }))
}

impl Probe for Ping {
    fn run(&self, host: &str, limits: &Limits<'_>) -> Outcome {
        ping(self, host, limits.timeout)
    }
}

fn ping(wanted: &Ping, host: &str, timeout: Duration) -> Outcome {
    let begun = Instant::now();
    let address = match resolver::addresses_of(host, timeout) {
        Ok(addresses) => addresses[0],
        Err(error) => return Outcome::new(State::Critical, error),
    };
    let requests = match Requests::open(address) {
        Ok(requests) => requests,
        Err(error) => {
            let text = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "sending ICMP is not permitted: run the agent as root, or add its group to the sysctl \
                     net.ipv4.ping_group_range"
                        .to_owned()
                }
                _ => error.to_string(),
            };
            return Outcome::new(State::Unknown, format!("{address}: {text}"));
        }
    };
    let mut times = Vec::new();
    let mut reason = None;
    for sequence in 0..wanted.packets {
        let sent = Instant::now();
        let left = timeout.saturating_sub(begun.elapsed());
        if left.is_zero() {
            break;
        }
        match requests.exchange(sequence, PATIENCE.min(left)) {
            Ok(Some(time)) => times.push(time),
            Ok(None) => {}
            Err(error) => reason = Some(error),
        }
        if sequence + 1 < wanted.packets {
            std::thread::sleep(INTERVAL.saturating_sub(sent.elapsed()));
        }
    }
    let lost = wanted.packets - times.len() as u16;
    let lost_percent = f64::from(lost) * 100.0 / f64::from(wanted.packets);
    if times.is_empty() {
        let reason = reason.map_or_else(|| "no answer".to_owned(), |error| error.to_string());
        return Outcome::new(State::Critical, format!("{address}: {reason}")).with("lost=100%".to_owned());
    }
    let mean = times.iter().sum::<Duration>() / times.len() as u32;
    let state =
        if lost > 0 || wanted.slow.is_some_and(|slow| mean > slow) { State::Warning } else { State::Ok };
    let mean_s = mean.as_secs_f64();
    let text =
        format!("{address} answered {} of {} after {:.2} ms", times.len(), wanted.packets, mean_s * 1e3);
    Outcome::new(state, text).with(format!("time={mean_s:.6}s lost={lost_percent:.0}%"))
}

/// A socket for echo requests to one address.
struct Requests {
    socket: OwnedFd,
    address: IpAddr,
    /// Distinguishes the requests of this socket where the kernel does not.
    id: u16,
    /// Received packets begin with a header of IPv4.
    has_header: bool,
}

impl Requests {
    /// A datagram socket if this user may have one, else a raw one.
    fn open(address: IpAddr) -> io::Result<Self> {
        let (family, protocol) = match address {
            IpAddr::V4(_) => (AddressFamily::INET, ipproto::ICMP),
            IpAddr::V6(_) => (AddressFamily::INET6, ipproto::ICMPV6),
        };
        let open = |kind| rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(protocol));
        let (socket, is_raw) = match open(SocketType::DGRAM) {
            Ok(socket) => (socket, false),
            Err(_) => (open(SocketType::RAW)?, true),
        };
        let own: IpAddr = match address {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        rustix::net::bind(&socket, &SocketAddr::new(own, 0))?;
        // Connected: packets of other addresses are dropped, and errors of this one are reported.
        rustix::net::connect(&socket, &SocketAddr::new(address, 0))?;
        let id = (probe::random::number() & 0xffff) as u16;
        Ok(Self { socket, address, id, has_header: is_raw && address.is_ipv4() })
    }

    /// Sends a request, and waits for its answer. `None`: there was none in time.
    fn exchange(&self, sequence: u16, patience: Duration) -> io::Result<Option<Duration>> {
        let sent = Instant::now();
        rustix::net::send(&self.socket, &self.request(sequence), SendFlags::empty())?;
        let mut packet = [0; 1500];
        loop {
            let left = patience.saturating_sub(sent.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            set_socket_timeout(&self.socket, Timeout::Recv, Some(left))?;
            match rustix::net::recv(&self.socket, &mut packet, RecvFlags::empty()) {
                Ok((length, _)) if self.is_answer(&packet[..length], sequence) => {
                    return Ok(Some(sent.elapsed()));
                }
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn request(&self, sequence: u16) -> [u8; HEADER_BYTES] {
        let kind = if self.address.is_ipv4() { ECHO_REQUEST } else { ECHO_REQUEST_6 };
        let ([id_high, id_low], [high, low]) = (self.id.to_be_bytes(), sequence.to_be_bytes());
        let mut packet = [kind, 0, 0, 0, id_high, id_low, high, low];
        // The kernel computes that of ICMPv6, which covers addresses, too.
        let checksum = checksum(&packet).to_be_bytes();
        packet[2..4].copy_from_slice(&checksum);
        packet
    }

    fn is_answer(&self, packet: &[u8], sequence: u16) -> bool {
        let header =
            if self.has_header { packet.first().map_or(0, |first| usize::from(first & 15) * 4) } else { 0 };
        let Some([kind, _, _, _, id_high, id_low, high, low, ..]) = packet.get(header..) else {
            return false;
        };
        let expected = if self.address.is_ipv4() { ECHO_REPLY } else { ECHO_REPLY_6 };
        // A datagram socket has an id of the kernel's, which delivers answers to that alone.
        let is_own = !self.is_raw() || u16::from_be_bytes([*id_high, *id_low]) == self.id;
        *kind == expected && is_own && u16::from_be_bytes([*high, *low]) == sequence
    }

    fn is_raw(&self) -> bool {
        rustix::net::sockopt::socket_type(&self.socket).is_ok_and(|kind| kind == SocketType::RAW)
    }
}

/// RFC 1071.
fn checksum(packet: &[u8]) -> u16 {
    let sum: u32 =
        packet.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_a_packet_with_its_checksum_is_zero() {
        let mut packet = [ECHO_REQUEST, 0, 0, 0, 0xff, 0xfe, 0xab, 0xcd];
        let sum = checksum(&packet).to_be_bytes();
        packet[2..4].copy_from_slice(&sum);
        assert_eq!(checksum(&packet), 0);
    }
}
