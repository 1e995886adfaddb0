//! What is in a journal alone, as a reader follows it.

use rusqlite::{CachedStatement, Connection, Params, params};

use crate::StoreError;
use crate::checksum;

/// A part of a history that grows in a journal, entry by entry, until it is sealed.
pub(crate) trait Growing: Sized {
    /// The table, the column with the part's number, and all columns that an entry's checksum is over: the second is the entry's place.
    const JOURNAL: &'static str;
    const ID: &'static str;
    const COLUMNS: &'static [&'static str];

    /// An empty one, by those columns.
    fn begin(columns: &[i64]) -> Self;

    /// Its number. Later ones have larger numbers.
    fn id(&self) -> i64;

    /// How many entries it has.
    fn entries(&self) -> usize;

    /// Adds an entry that was read; `false` if it is damaged.
    fn restore(&mut self, entry: &[u8]) -> bool;
}

/// Those parts, in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Unsealed<T> {
    pub(crate) parts: Vec<T>,
    /// Entries that are damaged or missing. Such an entry ends its part, since those after it are differences.
    pub(crate) damaged: u64,
}

impl<T> Default for Unsealed<T> {
    fn default() -> Self {
        Self { parts: Vec::new(), damaged: 0 }
    }
}

impl<T: Growing> Unsealed<T> {
    pub(crate) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let mut unsealed = Self::default();
        unsealed.go_on(connection)?;
        Ok(unsealed)
    }

    /// Reads what was written since, and drops the parts that were sealed.
    pub(crate) fn go_on(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if self.damaged > 0 {
            // Which entries were damaged is not known.
            *self = Self::default();
        }
        let (journal, id) = (T::JOURNAL, T::ID);
        let mut has_journal =
            connection.prepare_cached(&format!("SELECT 1 FROM {journal} WHERE {id} = ?1"))?;
        let mut there = Vec::with_capacity(self.parts.len() + 1);
        for part in self.parts.drain(..) {
            if has_journal.exists([part.id()])? {
                there.push(part);
            }
        }
        self.parts = there;
        let select = format!("SELECT {}, entry FROM {journal} WHERE", T::COLUMNS.join(", "));
        let place = T::COLUMNS[1];
        let mut of_part =
            connection.prepare_cached(&format!("{select} {id} = ?1 AND {place} >= ?2 ORDER BY {place}"))?;
        for at in 0..self.parts.len() {
            let part = &self.parts[at];
            let next = i64::try_from(part.entries()).unwrap_or(i64::MAX);
            let of = params![part.id(), next];
            self.take(&mut of_part, of)?;
        }
        let last = self.parts.last().map_or(i64::MIN, T::id);
        let mut behind = connection.prepare_cached(&format!("{select} {id} > ?1 ORDER BY {id}, {place}"))?;
        self.take(&mut behind, [last])?;
        self.parts.retain(|part| part.entries() > 0);
        Ok(())
    }

    /// Reads entries.
    fn take(&mut self, statement: &mut CachedStatement<'_>, of: impl Params) -> Result<(), StoreError> {
        let mut rows = statement.query(of)?;
        while let Some(row) = rows.next()? {
            let columns = (0..T::COLUMNS.len()).map(|column| row.get(column));
            let columns = columns.collect::<Result<Vec<i64>, _>>()?;
            let at = match self.parts.iter().position(|part| part.id() == columns[0]) {
                Some(at) => at,
                None => {
                    self.parts.push(T::begin(&columns));
                    self.parts.len() - 1
                }
            };
            let part = &mut self.parts[at];
            let bytes = row.get_ref(columns.len())?.as_blob().ok();
            let entry = bytes.and_then(|bytes| checksum::open(&columns, bytes));
            let is_next = i64::try_from(part.entries()) == Ok(columns[1]);
            if !(is_next && entry.is_some_and(|entry| part.restore(entry))) {
                self.damaged += 1;
            }
        }
        Ok(())
    }
}
