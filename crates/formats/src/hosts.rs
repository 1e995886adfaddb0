//! /etc/hosts: addresses of hosts. hosts(5).

use core::net::IpAddr;

/// Returns all addresses of a name, in the order of the file. Names are the same in capitals.
pub fn addresses_of(bytes: &[u8], name: &[u8]) -> Vec<IpAddr> {
    let address = |line: &[u8]| {
        let line = line.split(|byte| *byte == b'#').next()?;
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let address = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    };
    bytes.split(|byte| *byte == b'\n').filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_none_of_it() {
        let hosts = b"# a\n10.0.0.7\tone two # three\nbroken\n::1 Two\n";
        let texts =
            |name: &[u8]| addresses_of(hosts, name).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(b"two"), ["10.0.0.7", "::1"]);
        assert_eq!(texts(b"ONE"), ["10.0.0.7"]);
        assert!(texts(b"three").is_empty());
    }
}
