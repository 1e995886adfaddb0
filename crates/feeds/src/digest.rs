//! Digests as names.

use blake2::{Blake2s256, Digest as _};

/// The first bytes of a digest of some parts, in hexadecimal digits.
pub(crate) fn hex_digest(parts: &[&[u8]], bytes: usize) -> String {
    let digest = parts.iter().fold(Blake2s256::new(), |digest, part| digest.chain_update(part)).finalize();
    digest.iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}
