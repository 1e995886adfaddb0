//! The starts of the machine, by number.

use rusqlite::{Connection, params};

use crate::StoreError;
use crate::checksum;

/// The boot of what is imported: its clocks are the real-time clock.
pub(crate) const IMPORTED: &str = "imported";

/// The starts of the machine that were seen.
#[derive(Debug, Default)]
pub(crate) struct Boots {
    /// By number, from 1 on.
    ids: Vec<String>,
    written: usize,
}

impl Boots {
    /// Reads them.
    pub(crate) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let mut boots = Self::default();
        let mut statement = connection.prepare("SELECT id, boot_id FROM boots ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (id, bytes): (i64, _) = (row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
            let boot_id = checksum::open(&[id], bytes).and_then(|bytes| std::str::from_utf8(bytes).ok());
            boots.ids.push(boot_id.unwrap_or_default().to_owned());
        }
        boots.written = boots.ids.len();
        Ok(boots)
    }

    /// Their ids, in the order of their numbers.
    pub(crate) fn into_ids(self) -> Vec<String> {
        self.ids
    }

    /// The number of a boot, if it has one.
    pub(crate) fn find(&self, boot_id: &str) -> Option<i64> {
        let place = self.ids.iter().rposition(|known| known == boot_id)?;
        i64::try_from(place + 1).ok()
    }

    /// The number of a boot, given to it if it has none.
    pub(crate) fn number(&mut self, boot_id: &str) -> i64 {
        let place = self.ids.iter().rposition(|known| known == boot_id).unwrap_or_else(|| {
            self.ids.push(boot_id.to_owned());
            self.ids.len() - 1
        });
        i64::try_from(place + 1).unwrap_or(i64::MAX)
    }

    /// Writes those that are new. Returns how many there are then, for [`Self::commit`].
    pub(crate) fn write(&self, connection: &Connection) -> Result<usize, StoreError> {
        for (place, boot_id) in self.ids.iter().enumerate().skip(self.written) {
            let id = i64::try_from(place + 1).unwrap_or(i64::MAX);
            connection
                .prepare_cached("INSERT OR REPLACE INTO boots (id, boot_id) VALUES (?1, ?2)")?
                .execute(params![id, checksum::seal(&[id], boot_id.as_bytes())])?;
        }
        Ok(self.ids.len())
    }

    /// The transaction was committed.
    pub(crate) fn commit(&mut self, written: usize) {
        self.written = written;
    }

    /// Lets all be written again, into another file.
    pub(crate) fn forget_written(&mut self) {
        self.written = 0;
    }
}
