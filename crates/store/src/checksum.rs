//! A checksum before every blob: SQLite has none of its own, and notices a changed byte only if it breaks the tree.

/// Puts the checksum of the key and the body before the body. The key is what the row is found by, so that a row which has come to
/// stand under another one is noticed as well.
pub(crate) fn seal(key: &[i64], body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + body.len());
    bytes.extend(sum(key, body).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// The body; `None` if the bytes or the key are not what was written.
pub(crate) fn open<'b>(key: &[i64], bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (checksum, body) = bytes.split_first_chunk()?;
    (sum(key, body) == u32::from_le_bytes(*checksum)).then_some(body)
}

/// CRC-32 of the key, 8 bytes little-endian a number, and the body.
fn sum(key: &[i64], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    key.iter().for_each(|part| hasher.update(&part.to_le_bytes()));
    hasher.update(body);
    hasher.finalize()
}
