//! /etc/hosts: addresses of hosts. hosts(5).

use core::net::IpAddr;

/// The first address of a name.
pub fn address_of(bytes: &[u8], name: &[u8]) -> Option<IpAddr> {
    bytes.split(|byte| *byte == b'\n').find_map(|line| {
        let line = line.split(|byte| *byte == b'#').next()?;
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let address = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
        words.any(|word| word == name).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_none_of_it() {
        let hosts = b"# a\n10.0.0.7\tone two # three\nbroken\n::1 two\n";
        assert_eq!(address_of(hosts, b"two"), "10.0.0.7".parse().ok());
        assert_eq!(address_of(hosts, b"three"), None);
    }
}
