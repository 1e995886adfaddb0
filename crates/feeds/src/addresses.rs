//! Which addresses are fetched: public ones, and those that the configuration allows.
//!
//! A user's word decides what is fetched, so that a feed could otherwise reach services of the machine and its network.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A network that is fetched although it is not public, of all ports or of one: `10.1.0.0/16`, `127.0.0.1:9140`, `[::1]:80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowedNetwork {
    address: IpAddr,
    prefix: u8,
    port: Option<u16>,
}

impl AllowedNetwork {
    fn contains(self, address: IpAddr, port: u16) -> bool {
        let is_inside = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                own.to_bits() & mask == other.to_bits() & mask
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                own.to_bits() & mask == other.to_bits() & mask
            }
            _ => false,
        };
        is_inside && self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for AllowedNetwork {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || {
            "expected a network such as \"10.1.0.0/16\", or an address and a port such as \"127.0.0.1:9140\""
                .to_owned()
        };
        if let Ok(socket) = text.parse::<std::net::SocketAddr>() {
            let prefix = if socket.is_ipv4() { 32 } else { 128 };
            return Ok(Self { address: socket.ip(), prefix, port: Some(socket.port()) });
        }
        let (address, prefix) =
            text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address: IpAddr = address.parse().map_err(|_| wanted())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => longest,
            Some(prefix) => prefix.parse().ok().filter(|prefix| *prefix <= longest).ok_or_else(wanted)?,
        };
        Ok(Self { address, prefix, port: None })
    }
}

impl fmt::Display for AllowedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => std::net::SocketAddr::new(self.address, port).fmt(f),
            None => write!(f, "{}/{}", self.address, self.prefix),
        }
    }
}

/// Returns whether an address may be fetched.
pub(crate) fn is_fetched(address: IpAddr, port: u16, allowed: &[AllowedNetwork]) -> bool {
    is_public(address) || allowed.iter().any(|network| network.contains(address, port))
}

/// Returns whether an address is of the public internet: IANA's registries of special-purpose addresses.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Networks that are not public, by their first address and prefix.
const SPECIAL_V4: [([u8; 4], u8); 15] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|(network, prefix)| {
        let network = AllowedNetwork { address: IpAddr::from(*network), prefix: *prefix, port: None };
        network.contains(IpAddr::V4(address), 0)
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let inner = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match segments {
        // Addresses that stand for one of IPv4: mapped, NAT64 (RFC 6052), 6to4 (RFC 3056).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(inner(high, low))
        }
        [0x2002, high, low, ..] => is_public_v4(inner(high, low)),
        // Teredo, ORCHID, benchmarks, documentation.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Global unicast is 2000::/3.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.100.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.31.255.255",
            "192.168.1.1",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "3fff::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in
            ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1", "2a00:1450::1", "::ffff:1.1.1.1"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_network_is_allowed_with_its_port() {
        let allowed = |network: &str, address: &str, port| {
            is_fetched(address.parse().unwrap(), port, &[network.parse().unwrap()])
        };
        assert!(allowed("10.1.0.0/16", "10.1.2.3", 80));
        assert!(!allowed("10.1.0.0/16", "10.2.2.3", 80));
        assert!(allowed("127.0.0.1:9140", "127.0.0.1", 9140));
        assert!(!allowed("127.0.0.1:9140", "127.0.0.1", 80));
        assert!(allowed("::1", "::1", 80));
        assert!(!allowed("0.0.0.0/0", "::1", 80));
        for malformed in ["", "10.0.0.0/33", "a", "1.2.3.4/", "[::1"] {
            assert!(malformed.parse::<AllowedNetwork>().is_err(), "{malformed}");
        }
        for text in ["10.1.0.0/16", "127.0.0.1:9140", "[::1]:80", "::1/128"] {
            assert_eq!(text.parse::<AllowedNetwork>().unwrap().to_string(), text);
        }
    }
}
