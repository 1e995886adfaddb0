//! Generic netlink messages: linux/netlink.h, linux/genetlink.h. Numbers are in the machine's own byte order.
//!
//! Lengths come from the other side: each is checked before a byte behind it is looked at.

use crate::cursor::Malformed;

/// Bytes of `struct nlmsghdr`.
pub const MESSAGE_HEADER_BYTES: usize = 16;
/// Bytes of `struct genlmsghdr`.
pub const GENERIC_HEADER_BYTES: usize = 4;
const ATTRIBUTE_HEADER_BYTES: usize = 4;
/// Bits of an attribute's type that are flags (nested, byte order).
const ATTRIBUTE_FLAGS: u16 = 0xc000;

/// The type of a message that carries an error code, 0 for an acknowledgement.
pub const NLMSG_ERROR: u16 = 2;
/// The type of the message that ends a dump.
pub const NLMSG_DONE: u16 = 3;
/// The family of the controller that knows the other families.
pub const GENL_ID_CTRL: u16 = 0x10;
/// Ask the controller for a family.
pub const CTRL_CMD_GETFAMILY: u8 = 3;
/// A family's number, 16 bits.
pub const CTRL_ATTR_FAMILY_ID: u16 = 1;
/// A family's name, ended by a zero.
pub const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// A message to the kernel.
pub const NLM_F_REQUEST: u16 = 1;
/// Asks for all there are.
pub const NLM_F_DUMP: u16 = 0x300;

/// A message to the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The family, or the type of a routing message.
    pub kind: u16,
    /// [`NLM_F_REQUEST`], [`NLM_F_DUMP`].
    pub flags: u16,
    /// Comes back with the answer.
    pub sequence: u32,
    /// The bytes between the netlink header and the attributes.
    pub header: &'a [u8],
    /// Types and values.
    pub attributes: &'a [(u16, &'a [u8])],
}

impl Request<'_> {
    /// Appends it to `buffer`, which may hold others before it.
    pub fn push(&self, buffer: &mut Vec<u8>) {
        let start = buffer.len();
        buffer.extend_from_slice(&[0; 4]);
        buffer.extend_from_slice(&self.kind.to_ne_bytes());
        buffer.extend_from_slice(&self.flags.to_ne_bytes());
        buffer.extend_from_slice(&self.sequence.to_ne_bytes());
        buffer.extend_from_slice(&0u32.to_ne_bytes());
        buffer.extend_from_slice(self.header);
        let mut length = buffer.len() - start;
        for (attribute, value) in self.attributes {
            let attribute_bytes = ATTRIBUTE_HEADER_BYTES + value.len();
            buffer.extend_from_slice(&(attribute_bytes as u16).to_ne_bytes());
            buffer.extend_from_slice(&attribute.to_ne_bytes());
            buffer.extend_from_slice(value);
            length = buffer.len() - start;
            buffer.resize(start + length.next_multiple_of(4), 0);
        }
        buffer[start..start + 4].copy_from_slice(&(length as u32).to_ne_bytes());
    }
}

/// Appends a request of a generic family with one attribute to `buffer`, which may hold others before it.
pub fn push_request(
    buffer: &mut Vec<u8>,
    family: u16,
    sequence: u32,
    command: u8,
    attribute: u16,
    value: &[u8],
) {
    let (header, attributes) = ([command, 1, 0, 0], [(attribute, value)]);
    Request { kind: family, flags: NLM_F_REQUEST, sequence, header: &header, attributes: &attributes }
        .push(buffer);
}

/// One message of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The family, or [`NLMSG_ERROR`].
    pub kind: u16,
    /// The request's number, or for exit records a count per CPU.
    pub sequence: u32,
    /// The bytes after the header.
    pub payload: &'a [u8],
}

impl<'a> Message<'a> {
    /// The error code of an error message, positive as in errno(3); 0 acknowledges.
    pub fn error(&self) -> Option<i32> {
        let code = self.payload.first_chunk::<4>().filter(|_| self.kind == NLMSG_ERROR)?;
        Some(i32::from_ne_bytes(*code).wrapping_neg())
    }

    /// The attributes behind the generic header.
    pub fn attributes(&self) -> Attributes<'a> {
        Attributes(self.payload.get(GENERIC_HEADER_BYTES..).unwrap_or_default())
    }
}

/// Walks over the messages of a datagram; a length that cannot be ends the walk with an error.
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Messages<'a> {
    /// At the first message of a datagram.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let offset = self.at;
        let message = rest.first_chunk::<MESSAGE_HEADER_BYTES>().and_then(|header| {
            let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
            let payload = rest.get(MESSAGE_HEADER_BYTES..length)?;
            self.at = offset + length.next_multiple_of(4);
            let kind = u16::from_ne_bytes([header[4], header[5]]);
            let sequence = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]);
            Some(Message { kind, sequence, payload })
        });
        Some(message.ok_or_else(|| {
            self.at = self.bytes.len();
            Malformed { offset, expected: "a netlink message" }
        }))
    }
}

/// Walks over attributes, their type without its flags, and ends at the first whose length cannot be.
#[derive(Clone, Debug)]
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let header = self.0.first_chunk::<ATTRIBUTE_HEADER_BYTES>()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let value = self.0.get(ATTRIBUTE_HEADER_BYTES..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((u16::from_ne_bytes([header[2], header[3]]) & !ATTRIBUTE_FLAGS, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back() {
        let mut buffer = Vec::new();
        push_request(&mut buffer, 20, 7, 1, 2, b"abc");
        push_request(&mut buffer, 20, 8, 1, 1, &5u32.to_ne_bytes());
        let messages: Vec<_> = Messages::new(&buffer).map(Result::unwrap).collect();
        assert_eq!(messages.iter().map(|message| message.sequence).collect::<Vec<_>>(), [7, 8]);
        assert_eq!(messages[0].attributes().next(), Some((2, &b"abc"[..])));
    }

    #[test]
    fn lengths_that_cannot_be_end_the_walk() {
        for length in [0u32, 15, 17, u32::MAX] {
            let mut bytes = [0u8; 16];
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            let results: Vec<_> = Messages::new(&bytes).collect();
            assert!(matches!(results[..], [Err(_)]), "{length}");
        }
        assert_eq!(Attributes(&[3, 0, 1, 0, 9, 9]).next(), None);
        assert_eq!(Attributes(&[9, 0, 1, 0, 9, 9]).next(), None);
    }
}
