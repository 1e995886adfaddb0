//! The source of a mailbox's bytes.

/// A file that is read at offsets, as pread(2) does.
pub trait ReadAt {
    /// Why reading failed.
    type Error;

    /// Reads into `memory` and returns the number of bytes, which may be fewer than fit; 0 at the end of the file.
    ///
    /// # Errors
    /// Returns why reading failed.
    fn read_at(&mut self, offset: u64, memory: &mut [u8]) -> Result<usize, Self::Error>;
}
