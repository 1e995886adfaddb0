//! Frames between the agent's processes: the lengths of head and body, a head in JSON, and a body of bytes.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest head.
const MAX_HEAD_BYTES: usize = 4 << 20;

/// Appends a frame.
pub fn push(head: &impl Serialize, bodies: &[&[u8]], out: &mut Vec<u8>) {
    // The heads consist of numbers, strings and lists, which serialize without errors.
    let head = serde_json::to_vec(head).unwrap_or_default();
    let body_bytes = bodies.iter().map(|body| body.len()).sum::<usize>();
    for length in [head.len(), body_bytes] {
        out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    out.extend(head);
    bodies.iter().for_each(|body| out.extend_from_slice(body));
}

/// Returns the head, body and length of the first frame, or `None` if it is incomplete.
///
/// # Errors
/// If the frame is malformed, or its body is longer than `most_body_bytes`.
pub fn take<T: DeserializeOwned>(
    bytes: &[u8],
    most_body_bytes: usize,
) -> io::Result<Option<(T, &[u8], usize)>> {
    let malformed = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let Some((lengths, rest)) = bytes.split_first_chunk::<8>() else { return Ok(None) };
    let length =
        |at: usize| u32::from_le_bytes([lengths[at], lengths[at + 1], lengths[at + 2], lengths[at + 3]]);
    let (head_bytes, body_bytes) = (length(0) as usize, length(4) as usize);
    if head_bytes > MAX_HEAD_BYTES || body_bytes > most_body_bytes {
        return Err(malformed("a frame is too long"));
    }
    if rest.len() < head_bytes + body_bytes {
        return Ok(None);
    }
    let head = serde_json::from_slice(&rest[..head_bytes]).map_err(|_| malformed("a frame is malformed"))?;
    Ok(Some((head, &rest[head_bytes..head_bytes + body_bytes], 8 + head_bytes + body_bytes)))
}
