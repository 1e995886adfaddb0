//! Questions to a name server and its answers: RFC 1035, 4.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The type of address that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A.
    V4,
    /// AAAA, RFC 3596.
    V6,
}

/// The reply of a name server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Addresses, perhaps none.
    Addresses(Vec<IpAddr>),
    /// There is no such name (NXDOMAIN).
    NoName,
    /// It could or would not answer: its code.
    Refused(u8),
    /// The answer is longer than a datagram: ask over TCP (RFC 7766, 5).
    /// The addresses are those that it has.
    Truncated(Vec<IpAddr>),
}

/// The longest message over UDP without extensions.
pub const MAX_UDP_BYTES: usize = 512;
const HEADER: usize = 12;
const CLASS_INTERNET: u16 = 1;
/// Pointers of a compressed name that are followed.
const MAX_JUMPS: usize = 32;

impl Family {
    fn record(self) -> u16 {
        match self {
            Self::V4 => 1,
            Self::V6 => 28,
        }
    }
}

/// A question for the addresses of a name; `None` if it is no name of the DNS.
pub fn question(id: u16, name: &str, family: Family) -> Option<Vec<u8>> {
    let name = name.trim_end_matches('.');
    // Recursion is desired; one question.
    let mut message = [id.to_be_bytes(), [1, 0], [0, 1], [0; 2], [0; 2], [0; 2]].concat();
    for label in name.split('.') {
        let is_label = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length) && is_label)?;
        message.push(length);
        message.extend_from_slice(label.as_bytes());
    }
    message.push(0);
    message.extend_from_slice(&family.record().to_be_bytes());
    message.extend_from_slice(&CLASS_INTERNET.to_be_bytes());
    (name.len() <= 253).then_some(message)
}

/// The reply to a question; `None` if it is none to this one.
pub fn reply(question: &[u8], message: &[u8]) -> Option<Reply> {
    let (asked, answered) = (question.get(..HEADER)?, message.get(..HEADER)?);
    let is_response = answered[2] & 0x80 != 0;
    // Some servers repeat no question with an error. The socket is one that takes what this server sends alone.
    let code = answered[3] & 0xf;
    if asked[..2] == answered[..2] && is_response && answered[4..6] == [0, 0] && !matches!(code, 0 | 3) {
        return Some(Reply::Refused(code));
    }
    // The same id, and the same question, but for the case of its letters.
    let same_question = message.get(HEADER..question.len())?.eq_ignore_ascii_case(question.get(HEADER..)?);
    if asked[..2] != answered[..2] || !is_response || answered[4..6] != [0, 1] || !same_question {
        return None;
    }
    match code {
        0 => {}
        3 => return Some(Reply::NoName),
        code => return Some(Reply::Refused(code)),
    }
    let is_truncated = answered[2] & 0x2 != 0;
    let wanted = question.get(question.len() - 4..question.len() - 2)?;
    let answers = u16::from_be_bytes([answered[6], answered[7]]);
    let (mut at, mut addresses) = (question.len(), Vec::new());
    for _ in 0..answers {
        let Some((found, end)) = record(message, at, wanted) else {
            // A record may be cut off with the message.
            return is_truncated.then_some(Reply::Truncated(addresses));
        };
        addresses.extend(found);
        at = end;
    }
    Some(if is_truncated { Reply::Truncated(addresses) } else { Reply::Addresses(addresses) })
}

/// Reads a record: its address, if it is of the wanted type, and where it ends. `None` if it is not whole.
fn record(message: &[u8], at: usize, wanted: &[u8]) -> Option<(Option<IpAddr>, usize)> {
    let at = end_of_name(message, at)?;
    let head = message.get(at..at + 10)?;
    let length = usize::from(u16::from_be_bytes([head[8], head[9]]));
    let data = message.get(at + 10..at + 10 + length)?;
    let is_wanted = head[..2] == *wanted && head[2..4] == CLASS_INTERNET.to_be_bytes();
    Some((is_wanted.then(|| address(data)).flatten(), at + 10 + length))
}

fn address(data: &[u8]) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(data) {
        return Some(Ipv4Addr::from(bytes).into());
    }
    <[u8; 16]>::try_from(data).ok().map(|bytes| Ipv6Addr::from(bytes).into())
}

/// Where a name ends that may point elsewhere: 4.1.4.
fn end_of_name(message: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..MAX_JUMPS * 4 {
        match *message.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length if length & 0xc0 == 0 => at += 1 + usize::from(length),
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_answer_is_to_its_question() {
        let question = question(0x1234, "www.Example.org", Family::V4).unwrap();
        assert_eq!(question.len(), 12 + 17 + 4);
        let mut message = question.clone();
        message[2..8].copy_from_slice(&[0x81, 0x80, 0, 1, 0, 2]);
        // An alias, and the address of what it stands for; both names point into the question.
        message.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 9, 0, 2, 0xc0, 16]);
        message.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7]);
        assert_eq!(reply(&question, &message), Some(Reply::Addresses(vec![[192, 0, 2, 7].into()])));
        let mut other = message.clone();
        other[0] ^= 1;
        assert_eq!(reply(&question, &other), None);
        message[3] = 0x83;
        assert_eq!(reply(&question, &message), Some(Reply::NoName));
        message[3] = 0x85;
        assert_eq!(reply(&question, &message), Some(Reply::Refused(5)));
        message[2..4].copy_from_slice(&[0x83, 0x80]);
        let one = vec![[192, 0, 2, 7].into()];
        assert_eq!(reply(&question, &message), Some(Reply::Truncated(one)));
        assert_eq!(reply(&question, &message[..message.len() - 1]), Some(Reply::Truncated(vec![])));
    }

    #[test]
    fn names_are_checked() {
        for wrong in ["", "a..b", "ä.org", "a b", &"x".repeat(64), &"abc.".repeat(70)] {
            assert!(question(1, wrong, Family::V6).is_none(), "{wrong}");
        }
        assert!(question(1, "a_b.example.", Family::V6).is_some());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(tail in proptest::collection::vec(any::<u8>(), 0..80), flags: u8) {
            let question = question(7, "a.b", Family::V6).unwrap();
            let mut message = question.clone();
            message[2..8].copy_from_slice(&[0x81, flags & 0xf0, 0, 1, 0, 3]);
            message.extend(tail);
            let _ = reply(&question, &message);
            let _ = reply(&question, &message[..message.len() / 2]);
        }
    }
}
