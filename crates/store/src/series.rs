//! Which series there are.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::StoreError;

/// A series, by its number in this store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesId(pub(crate) u32);

/// How its values behave over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesKind {
    /// Goes up and down.
    Gauge,
    /// Only goes up, until it is reset.
    Counter,
}

impl SeriesKind {
    fn number(self) -> i64 {
        match self {
            Self::Gauge => 0,
            Self::Counter => 1,
        }
    }
}

/// The names of all series, and their numbers.
#[derive(Debug, Default)]
pub(crate) struct SeriesNames {
    by_name: HashMap<String, (SeriesId, SeriesKind)>,
}

impl SeriesNames {
    /// Reads them.
    pub(crate) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let mut names = Self::default();
        let mut statement = connection.prepare("SELECT id, name, kind FROM series ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = SeriesId(row.get(0)?);
            let kind = if row.get::<_, i64>(2)? == 1 { SeriesKind::Counter } else { SeriesKind::Gauge };
            names.by_name.insert(row.get(1)?, (id, kind));
        }
        Ok(names)
    }

    /// The number of a series, given to it if it has none.
    pub(crate) fn id(
        &mut self,
        connection: &Connection,
        name: &str,
        kind: SeriesKind,
    ) -> Result<SeriesId, StoreError> {
        if let Some((id, _)) = self.by_name.get(name) {
            return Ok(*id);
        }
        let mut statement =
            connection.prepare_cached("INSERT INTO series (name, kind) VALUES (?1, ?2) RETURNING id")?;
        let id = SeriesId(statement.query_row(params![name, kind.number()], |row| row.get(0))?);
        self.by_name.insert(name.to_owned(), (id, kind));
        Ok(id)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, SeriesId, SeriesKind)> {
        self.by_name.iter().map(|(name, (id, kind))| (name.as_str(), *id, *kind))
    }
}
