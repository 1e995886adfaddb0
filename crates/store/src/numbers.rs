//! Lists of numbers, compressed by pco.

use pco::ChunkConfig;
use pco::data_types::Number;
use pco::standalone::{simple_compress, simple_decompress_into};

/// Higher levels take more CPU time, and hardly less space.
const LEVEL: usize = 8;

/// Compresses numbers; `None` if there are more than pco can take.
pub(crate) fn encode<N: Number>(numbers: &[N]) -> Option<Vec<u8>> {
    simple_compress(numbers, &ChunkConfig::default().with_compression_level(LEVEL)).ok()
}

/// As many numbers as are expected; `None` if the bytes are other ones.
pub(crate) fn decode<N: Number + Default>(bytes: &[u8], count: usize) -> Option<Vec<N>> {
    let mut numbers = vec![N::default(); count];
    let progress = simple_decompress_into(bytes, &mut numbers).ok()?;
    (progress.finished && progress.n_processed == count).then_some(numbers)
}
