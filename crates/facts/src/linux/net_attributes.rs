//! /sys/class/net/*/{operstate,speed,carrier}: the state of a link. Documentation/ABI/testing/sysfs-class-net.

use crate::cursor::{Cursor, Malformed, lines};
use crate::name::Name;

/// RFC 2863's operational state, by the kernel's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationalState {
    /// The driver does not say: loopback, tunnels and many virtual links, which pass packets all the same.
    #[default]
    Unknown,
    /// Ready to pass packets.
    Up,
    /// Not able to.
    Down,
    /// Waiting: for a link below, for 802.1X, for a test.
    Waiting,
}

/// The kind of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkKind {
    /// Wired, or a driver that looks like it.
    #[default]
    Ethernet,
    /// Talks to the machine itself.
    Loopback,
    /// A radio.
    Wireless,
    /// Leads elsewhere through another interface: WireGuard, tun, PPP, IP in IP, GRE.
    Tunnel,
    /// Ties others together or stands for them: bridge, bond, VLAN, one end of a pair.
    Virtual,
}

/// One interface's link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// `eth0`.
    pub name: Name,
    /// The interface's number; `None` if it is not known.
    pub index: Option<u32>,
    /// The kind of interface.
    pub kind: LinkKind,
    /// Operational state.
    pub state: OperationalState,
    /// True if a carrier is there; none while the interface is administratively down (the kernel says EINVAL).
    pub carrier: Option<bool>,
    /// Megabits per second; `None` if the link has no speed or does not say (-1, EINVAL).
    pub speed_mbit: Option<u64>,
}

impl LinkKind {
    /// From the files `type` (ARPHRD_* of linux/if_arp.h) and `uevent`, and whether it is a radio.
    pub fn new(hardware_type: &[u8], uevent: &[u8], is_radio: bool) -> Self {
        const LOOPBACK: u64 = 772;
        // Without a link layer (tun, WireGuard), PPP, SLIP, IP in IP, IPv6 in IPv4, GRE, GRE over IPv6.
        const TUNNELS: [u64; 8] = [65_534, 512, 256, 768, 769, 776, 778, 823];
        let device_type = lines(uevent).find_map(|mut line| line.skip(b"DEVTYPE=").then(|| line.rest()));
        let hardware_type = Cursor::new(hardware_type).number();
        match (hardware_type, device_type) {
            (Some(LOOPBACK), _) => Self::Loopback,
            (_, Some(b"wlan")) => Self::Wireless,
            _ if is_radio => Self::Wireless,
            (_, Some(b"wireguard" | b"ppp")) => Self::Tunnel,
            (Some(kind), _) if TUNNELS.contains(&kind) => Self::Tunnel,
            (_, Some(b"bridge" | b"bond" | b"vlan" | b"macvlan" | b"vxlan" | b"team")) => Self::Virtual,
            _ => Self::Ethernet,
        }
    }
}

impl Link {
    /// Returns true if it talks to the machine itself.
    pub fn is_loopback(&self) -> bool {
        self.kind == LinkKind::Loopback
    }

    /// Returns true if packets can leave by it. Where the driver does not say the state, the carrier does (virtual links); a link
    /// that says neither is taken to be up.
    pub fn is_up(&self) -> bool {
        match self.state {
            OperationalState::Up => true,
            OperationalState::Unknown => self.carrier.unwrap_or(true),
            OperationalState::Down | OperationalState::Waiting => false,
        }
    }
}

/// The content of an operstate file.
pub fn operational_state(bytes: &[u8]) -> OperationalState {
    match bytes.trim_ascii() {
        b"up" => OperationalState::Up,
        b"down" | b"notpresent" => OperationalState::Down,
        b"lowerlayerdown" | b"testing" | b"dormant" => OperationalState::Waiting,
        _ => OperationalState::Unknown,
    }
}

/// The content of a carrier file: 0 or 1.
///
/// # Errors
/// If it is not a number.
pub fn carrier(bytes: &[u8]) -> Result<bool, Malformed> {
    let mut cursor = Cursor::new(bytes);
    cursor.number().map(|number| number != 0).ok_or_else(|| cursor.expected("0 or 1"))
}

/// The content of a speed file: megabits per second, or -1 for unknown.
///
/// # Errors
/// If it is not a number.
pub fn speed_mbit(bytes: &[u8]) -> Result<Option<u64>, Malformed> {
    let mut cursor = Cursor::new(bytes);
    let speed = cursor.signed().ok_or_else(|| cursor.expected("megabits per second"))?;
    // Some drivers print the unknown speed as an unsigned 32-bit -1.
    Ok(u64::try_from(speed).ok().filter(|speed| *speed != u64::from(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_distinguished() {
        let kind = |hardware: &[u8], uevent: &[u8]| LinkKind::new(hardware, uevent, false);
        assert_eq!(kind(b"772\n", b""), LinkKind::Loopback);
        assert_eq!(kind(b"1\n", b"DEVTYPE=wlan\nINTERFACE=wlp2s0\n"), LinkKind::Wireless);
        assert_eq!(kind(b"65534\n", b"INTERFACE=tun0\nDEVTYPE=wireguard\n"), LinkKind::Tunnel);
        assert_eq!(kind(b"65534\n", b"INTERFACE=tun0\n"), LinkKind::Tunnel);
        assert_eq!(kind(b"1\n", b"DEVTYPE=bridge\n"), LinkKind::Virtual);
        assert_eq!(kind(b"1\n", b"INTERFACE=eth0\n"), LinkKind::Ethernet);
    }
}
