//! The boots of a history. Sums name theirs, so that those beside another machine's history are not taken for its own.

use flate2::Crc;
use store::{History, StoreError};

/// The boots of a history in the order of their numbers, as sums name them: by the CRC-32 of their ids.
#[derive(Debug, Default)]
pub(crate) struct Boots(Vec<u32>);

impl Boots {
    /// Reads them.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn of(history: &History) -> Result<Self, StoreError> {
        let name = |id: &String| {
            let mut checksum = Crc::new();
            checksum.update(id.as_bytes());
            checksum.sum()
        };
        Ok(Self(history.boot_ids()?.iter().map(name).collect()))
    }

    /// Returns the one with a number, from 1 on.
    pub(super) fn get(&self, number: i64) -> Option<u32> {
        self.0.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }

    /// Returns whether a boot is one of them.
    pub(crate) fn contains(&self, boot: u32) -> bool {
        self.0.contains(&boot)
    }
}
