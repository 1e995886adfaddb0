//! /sys/block/zram*/mm_stat: memory that compressed swap takes. Since 4.1; Documentation/admin-guide/blockdev/zram.rst.

use crate::cursor::{Cursor, Malformed};
use crate::unit::Bytes;

/// One zram device, or several added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zram {
    /// Data that was written to it, uncompressed.
    pub original: Bytes,
    /// Memory it takes, with the allocator's own.
    pub used: Bytes,
}

impl Zram {
    /// Adds the bytes of one mm_stat file.
    ///
    /// # Errors
    /// If the first three figures are not there.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(bytes);
        let mut number = || cursor.number().map(Bytes).ok_or_else(|| cursor.expected("bytes"));
        let (original, _compressed, used) = (number()?, number()?, number()?);
        self.original += original;
        self.used += used;
        Ok(())
    }
}
