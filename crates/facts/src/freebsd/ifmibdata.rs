//! `struct ifmibdata` of net/if_mib.h: an interface and its counters.
//!
//! Asked for as {CTL_NET, PF_LINK, NETLINK_GENERIC, IFMIB_IFDATA, row, IFDATA_GENERAL}, the row from 1 to
//! `net.link.generic.system.ifcount`, which is the highest row: an interface that went leaves a hole (ENOENT).

use super::{at, c_string, u32_at, u64_at};
use crate::cursor::Malformed;
use crate::linux::net_attributes::{Link, LinkKind, OperationalState};
use crate::linux::net_dev::Interface;
use crate::name::Name;

/// Bytes of the struct.
pub const BYTES: usize = 208;
/// `ifmd_flags`.
const FLAGS: usize = 20;
/// `ifmd_data`, a `struct if_data` of net/if.h.
const DATA: usize = 56;
/// `ifi_type`.
const TYPE: usize = DATA;
/// `ifi_link_state`.
const LINK_STATE: usize = DATA + 4;
/// `ifi_baudrate`.
const BAUDRATE: usize = DATA + 16;
/// `ifi_ipackets`, and behind it a counter each 8 bytes.
const COUNTERS: usize = DATA + 24;
/// `ifi_ibytes`.
pub const RECEIVED_BYTES: usize = DATA + 64;
/// `ifi_obytes`.
pub const SENT_BYTES: usize = DATA + 72;
/// `ifi_iqdrops`.
const RECEIVE_DROPS: usize = DATA + 96;

const IFF_UP: u32 = 0x1;
const IFF_LOOPBACK: u32 = 0x8;
const LINK_STATE_DOWN: u8 = 1;
const LINK_STATE_UP: u8 = 2;

/// The interface's traffic and its link.
///
/// # Errors
/// If the bytes are fewer than the struct's.
pub fn parse(bytes: &[u8], row: u32) -> Result<(Interface, Link), Malformed> {
    if bytes.len() < BYTES {
        return Err(Malformed { offset: bytes.len(), expected: "the 208 bytes of struct ifmibdata" });
    }
    let counter = |offset| u64_at(bytes, offset, "a counter");
    let name = Name::new(c_string(&bytes[..16]));
    let interface = Interface {
        name,
        received_bytes: counter(RECEIVED_BYTES)?,
        received_packets: counter(COUNTERS)?,
        receive_errors: counter(COUNTERS + 8)?,
        receive_drops: counter(RECEIVE_DROPS)?,
        sent_bytes: counter(SENT_BYTES)?,
        sent_packets: counter(COUNTERS + 16)?,
        send_errors: counter(COUNTERS + 24)?,
        send_drops: counter(RECEIVE_DROPS + 8)?,
    };
    let flags = u32_at(bytes, FLAGS, "flags")?;
    let [kind] = at::<1>(bytes, TYPE, "a type")?;
    let [state] = at::<1>(bytes, LINK_STATE, "a link state")?;
    let megabits = counter(BAUDRATE)? / 1_000_000;
    let link = Link {
        name,
        index: Some(row),
        kind: match kind {
            _ if flags & IFF_LOOPBACK != 0 => LinkKind::Loopback,
            // wlan(4): its type is that of Ethernet.
            _ if name.as_str().starts_with("wlan") => LinkKind::Wireless,
            kind => link_kind(kind),
        },
        state: match state {
            _ if flags & IFF_UP == 0 => OperationalState::Down,
            LINK_STATE_DOWN => OperationalState::Down,
            LINK_STATE_UP => OperationalState::Up,
            _ => OperationalState::Unknown,
        },
        carrier: None,
        speed_mbit: (megabits > 0).then_some(megabits),
    };
    Ok((interface, link))
}

/// By the numbers of net/if_types.h.
fn link_kind(kind: u8) -> LinkKind {
    match kind {
        0x18 => LinkKind::Loopback,
        0x47 => LinkKind::Wireless,
        // PPP, SLIP, a tunnel, gif, WireGuard.
        0x17 | 0x1c | 0x83 | 0xf0 | 0xf8 => LinkKind::Tunnel,
        0x06 => LinkKind::Ethernet,
        // A bridge, a VLAN, an aggregate, the packet filter's log, IPsec's, a USB bus.
        _ => LinkKind::Virtual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        bytes[..5].copy_from_slice(b"age0\0");
        bytes[FLAGS..FLAGS + 4].copy_from_slice(&0x8843u32.to_le_bytes());
        (bytes[TYPE], bytes[LINK_STATE]) = (6, LINK_STATE_UP);
        bytes[BAUDRATE..BAUDRATE + 8].copy_from_slice(&1_000_000_000u64.to_le_bytes());
        bytes[120..128].copy_from_slice(&u64::MAX.to_le_bytes());
        bytes[128..136].copy_from_slice(&772u64.to_le_bytes());
        bytes
    }

    #[test]
    fn bytes_stand_at_120_and_128() {
        let (interface, link) = parse(&recorded(), 1).unwrap();
        assert_eq!(
            (interface.name.as_str(), interface.received_bytes, interface.sent_bytes),
            ("age0", u64::MAX, 772)
        );
        assert_eq!((link.is_up(), link.speed_mbit, link.kind), (true, Some(1000), LinkKind::Ethernet));
        let mut newer = recorded();
        newer.resize(300, 7);
        assert_eq!(parse(&newer, 1).unwrap().0, interface);
    }

    #[test]
    fn a_short_buffer_is_refused_and_an_interface_that_is_down_is_down() {
        for length in [0, 16, 135, 207] {
            assert!(parse(&recorded()[..length], 1).is_err(), "{length}");
        }
        let mut down = recorded();
        down[FLAGS] = 0;
        assert!(!parse(&down, 1).unwrap().1.is_up());
    }
}
