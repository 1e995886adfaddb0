//! Addresses of interfaces over routing netlink: linux/rtnetlink.h, linux/if_addr.h; rtnetlink(7).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::linux::genetlink::{Attributes, Message};

/// Asks for addresses.
pub const RTM_GETADDR: u16 = 22;
/// An address that is there.
pub const RTM_NEWADDR: u16 = 20;
/// Bytes of `struct ifaddrmsg`.
pub const ADDRESS_HEADER_BYTES: usize = 8;

const FAMILY_IPV4: u8 = 2;
const FAMILY_IPV6: u8 = 10;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
const FLAG_TEMPORARY: u32 = 0x01;
const FLAG_DEPRECATED: u32 = 0x20;
const FLAG_TENTATIVE: u32 = 0x40;
const SCOPE_GLOBAL: u8 = 0;

/// One address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The interface's number.
    pub interface_index: u32,
    /// The own end's.
    pub address: IpAddr,
    /// Bits of the network's part.
    pub prefix_bits: u8,
    /// Reaches beyond the link.
    pub is_global: bool,
    /// A privacy address, which changes (RFC 8981).
    pub is_temporary: bool,
    /// Still works, but nothing new starts from it.
    pub is_deprecated: bool,
}

impl Address {
    /// From a message; `None` if it is not of an address that can be used.
    pub fn new(message: &Message<'_>) -> Option<Self> {
        if message.kind != RTM_NEWADDR {
            return None;
        }
        let header = message.payload.first_chunk::<ADDRESS_HEADER_BYTES>()?;
        let [family, prefix_bits, flags, scope, index @ ..] = *header;
        let (mut address, mut local, mut flags) = (None, None, u32::from(flags));
        for (kind, value) in Attributes(&message.payload[ADDRESS_HEADER_BYTES..]) {
            match kind {
                IFA_ADDRESS => address = ip(family, value),
                IFA_LOCAL => local = ip(family, value),
                IFA_FLAGS => flags = u32::from_ne_bytes(*value.first_chunk()?),
                _ => {}
            }
        }
        if flags & FLAG_TENTATIVE != 0 {
            return None;
        }
        Some(Self {
            interface_index: u32::from_ne_bytes(index),
            // On a point-to-point link the plain one is the other end's.
            address: local.or(address)?,
            prefix_bits,
            is_global: scope == SCOPE_GLOBAL,
            is_temporary: flags & FLAG_TEMPORARY != 0,
            is_deprecated: flags & FLAG_DEPRECATED != 0,
        })
    }
}

fn ip(family: u8, value: &[u8]) -> Option<IpAddr> {
    match family {
        FAMILY_IPV4 => value.first_chunk::<4>().map(|bytes| Ipv4Addr::from(*bytes).into()),
        FAMILY_IPV6 => value.first_chunk::<16>().map(|bytes| Ipv6Addr::from(*bytes).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::genetlink::{Messages, Request};

    #[test]
    fn an_address_is_the_own_end_and_a_tentative_one_is_none_yet() {
        let read = |flags: u32, attributes: &[(u16, &[u8])]| {
            let mut bytes = Vec::new();
            let mut all = attributes.to_vec();
            let flags = flags.to_ne_bytes();
            all.push((IFA_FLAGS, &flags));
            let header = [[2, 24, 0, 0], 7u32.to_ne_bytes()].concat();
            Request { kind: RTM_NEWADDR, flags: 0, sequence: 1, header: &header, attributes: &all }
                .push(&mut bytes);
            Messages::new(&bytes).next().and_then(Result::ok).and_then(|message| Address::new(&message))
        };
        let found = read(0, &[(IFA_ADDRESS, &[10, 0, 0, 2]), (IFA_LOCAL, &[10, 0, 0, 1])]).unwrap();
        assert_eq!((found.address, found.interface_index), (IpAddr::from([10, 0, 0, 1]), 7));
        assert!(found.is_global && !found.is_temporary);
        assert_eq!(read(FLAG_TENTATIVE, &[(IFA_LOCAL, &[10, 0, 0, 1])]), None);
        assert_eq!(read(0, &[(IFA_LOCAL, &[10, 0])]), None);
    }
}
