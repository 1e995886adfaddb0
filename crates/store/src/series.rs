//! Which series there are.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::StoreError;
use crate::checksum;

/// A series, by its number in this store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesId(pub(crate) u32);

/// How its values behave over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeriesKind {
    /// Goes up and down.
    Gauge,
    /// Only goes up, until it is reset.
    Counter,
}

impl SeriesKind {
    fn letter(self) -> u8 {
        match self {
            Self::Gauge => b'g',
            Self::Counter => b'c',
        }
    }
}

/// The names of all series, and their numbers.
#[derive(Debug, Default)]
pub(crate) struct SeriesNames {
    by_name: HashMap<Arc<str>, SeriesId>,
    /// By number; `None` where the row is damaged.
    by_id: Vec<Option<(Arc<str>, SeriesKind)>>,
    /// How many of them are written.
    written: usize,
    /// Rows that are damaged or missing.
    pub(crate) damaged: u64,
}

impl SeriesNames {
    /// Reads them.
    pub(crate) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let mut names = Self::default();
        names.read_new(connection)?;
        Ok(names)
    }

    /// Reads those that were written since.
    pub(crate) fn read_new(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let known = self.by_id.len();
        let mut statement =
            connection.prepare_cached("SELECT id, name FROM series WHERE id >= ?1 OR id < 0 ORDER BY id")?;
        let mut rows = statement.query([i64::try_from(known).unwrap_or(i64::MAX)])?;
        while let Some(row) = rows.next()? {
            let id: u32 = row.get(0)?;
            // Numbers are given without gaps.
            let place = usize::try_from(id).unwrap_or(usize::MAX);
            if place < self.by_id.len() || place > self.by_id.len() + MAX_MISSING {
                // Such rows are read again each time, and are counted the first time.
                self.damaged += u64::from(known == 0);
                continue;
            }
            self.by_id.resize(place, None);
            let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
            let name = checksum::open(&[id.into(), 0], bytes)
                .and_then(decode)
                .map(|(name, kind)| (Arc::<str>::from(name), kind));
            if let Some((name, _)) = &name {
                self.by_name.insert(name.clone(), SeriesId(id));
            }
            self.by_id.push(name);
        }
        self.damaged += self.by_id[known..].iter().filter(|name| name.is_none()).count() as u64;
        self.written = self.by_id.len();
        Ok(())
    }

    /// The number of a series, given to it if it has none.
    pub(crate) fn id(&mut self, name: &str, kind: SeriesKind) -> SeriesId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = SeriesId(u32::try_from(self.by_id.len()).unwrap_or(u32::MAX));
        let name: Arc<str> = name.into();
        self.by_name.insert(Arc::clone(&name), id);
        self.by_id.push(Some((name, kind)));
        id
    }

    /// Returns how many series have numbers.
    pub(crate) fn count(&self) -> usize {
        self.by_name.len()
    }

    /// Writes those that are new. Returns how many there are then, for [`Self::commit`].
    pub(crate) fn write(&self, connection: &Connection) -> Result<usize, StoreError> {
        for (place, name) in self.by_id.iter().enumerate().skip(self.written) {
            let Some((name, kind)) = name else { continue };
            let mut body = vec![kind.letter()];
            body.extend(name.as_bytes());
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            connection
                .prepare_cached("INSERT OR REPLACE INTO series (id, name) VALUES (?1, ?2)")?
                .execute(params![place, checksum::seal(&[place, 0], &body)])?;
        }
        Ok(self.by_id.len())
    }

    /// The transaction was committed.
    pub(crate) fn commit(&mut self, written: usize) {
        self.written = written;
    }

    /// Lets all be written again, into another file.
    pub(crate) fn forget_written(&mut self) {
        self.written = 0;
    }

    /// Returns the number of a series, if it has one.
    pub(crate) fn find(&self, name: &str) -> Option<SeriesId> {
        self.by_name.get(name).copied()
    }

    /// How a series behaves.
    pub(crate) fn kind(&self, id: SeriesId) -> Option<SeriesKind> {
        self.by_id.get(id.0 as usize)?.as_ref().map(|(_, kind)| *kind)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, SeriesKind)> {
        self.by_id.iter().flatten().map(|(name, kind)| (&**name, *kind))
    }
}

/// Numbers that may be missing in a row; more can only be a damaged number.
const MAX_MISSING: usize = 100_000;

fn decode(body: &[u8]) -> Option<(String, SeriesKind)> {
    let (letter, name) = body.split_first()?;
    let kind = match letter {
        b'g' => SeriesKind::Gauge,
        b'c' => SeriesKind::Counter,
        _ => return None,
    };
    Some((std::str::from_utf8(name).ok()?.to_owned(), kind))
}
