//! /proc/spl/kstat/zfs/arcstats: the ZFS cache, which the kernel does not count as cache. Lines of "name type data";
//! written by OpenZFS since 0.6.

use crate::cursor::{Cursor, Malformed, lines};
use crate::unit::Bytes;

/// /proc/spl/kstat/zfs/arcstats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArcStats {
    /// The memory that it takes now.
    pub size: Bytes,
    /// The size that it will shrink to when others want memory.
    pub minimum: Bytes,
}

impl ArcStats {
    /// Fills from the bytes of arcstats.
    ///
    /// # Errors
    /// If `size` is missing.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        let mut found = false;
        for mut line in lines(bytes) {
            let target = match line.word() {
                Some(b"size") => &mut self.size,
                Some(b"c_min") => &mut self.minimum,
                _ => continue,
            };
            let (Some(_), Some(value)) = (line.word(), line.number()) else {
                return Err(line.expected("a type and a number"));
            };
            *target = Bytes(value);
            found = true;
        }
        if found { Ok(()) } else { Err(Cursor::new(bytes).expected("size")) }
    }
}
