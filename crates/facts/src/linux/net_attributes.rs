//! /sys/class/net/*/{operstate,speed,carrier}: the state of a link. Documentation/ABI/testing/sysfs-class-net.

use crate::cursor::{Cursor, Malformed};
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

/// One interface's link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// `eth0`.
    pub name: Name,
    /// Talks to the machine itself.
    pub is_loopback: bool,
    /// Operational state.
    pub state: OperationalState,
    /// Whether a carrier is there; none while the interface is administratively down (the kernel says EINVAL).
    pub carrier: Option<bool>,
    /// Megabits per second; none where the link has no speed or does not say (-1, EINVAL).
    pub speed_mbit: Option<u64>,
}

impl Link {
    /// Whether packets can leave by it. Where the driver does not say the state, the carrier does (virtual links); a
    /// link that says neither is taken to be up.
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
/// Where it is no number.
pub fn carrier(bytes: &[u8]) -> Result<bool, Malformed> {
    let mut cursor = Cursor::new(bytes);
    cursor.number().map(|number| number != 0).ok_or_else(|| cursor.expected("0 or 1"))
}

/// The content of a speed file: megabits per second, or -1 for unknown.
///
/// # Errors
/// Where it is no number.
pub fn speed_mbit(bytes: &[u8]) -> Result<Option<u64>, Malformed> {
    let mut cursor = Cursor::new(bytes);
    let speed = cursor.signed().ok_or_else(|| cursor.expected("megabits per second"))?;
    // Some drivers print the unknown speed as an unsigned 32-bit -1.
    Ok(u64::try_from(speed).ok().filter(|speed| *speed != u64::from(u32::MAX)))
}
