//! Engines that record samples and give them back: the store, and plain tables beside which it is compared.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::StoreError;
use crate::history::History;
use crate::retention::Retention;
use crate::series::{SeriesId, SeriesKind};
use crate::store::{Store, Tick};

/// An engine for series.
pub trait Engine {
    /// The number of a series, which is given to it if it is new.
    fn series(&mut self, name: &str, kind: SeriesKind) -> SeriesId;

    /// Records a tick, so that the end of the process does not lose it.
    ///
    /// # Errors
    /// If it cannot be written.
    fn append(&mut self, tick: &Tick<'_>) -> Result<(), StoreError>;

    /// Calls `each` with the samples of a series between two times in nanoseconds since 1970, the last of them included: the time and
    /// the value.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(
        &self,
        name: &str,
        from_ns: i64,
        to_ns: i64,
        each: &mut dyn FnMut(i64, f64),
    ) -> Result<(), StoreError>;

    /// Writes what is left, and returns the bytes on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(&mut self) -> Result<u64, StoreError>;
}

/// The store, and its history beside it.
#[derive(Debug)]
pub struct StoreEngine {
    path: PathBuf,
    /// `None` while it is opened again.
    store: Option<Store>,
    /// Opened by the first read after something was written.
    history: RefCell<Option<History>>,
}

impl StoreEngine {
    /// In a file.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let store = Some(Store::open(path, Retention::default())?);
        Ok(Self { path: path.to_owned(), store, history: RefCell::default() })
    }

    fn store(&mut self) -> Result<&mut Store, StoreError> {
        self.store.as_mut().ok_or(StoreError::Damaged("a store that could not be opened again"))
    }
}

impl Engine for StoreEngine {
    fn series(&mut self, name: &str, kind: SeriesKind) -> SeriesId {
        self.store.as_mut().map_or(SeriesId(0), |store| store.series(name, kind))
    }

    fn append(&mut self, tick: &Tick<'_>) -> Result<(), StoreError> {
        self.history.take();
        self.store()?.append(tick)
    }

    fn read(
        &self,
        name: &str,
        from_ns: i64,
        to_ns: i64,
        each: &mut dyn FnMut(i64, f64),
    ) -> Result<(), StoreError> {
        let mut kept = self.history.borrow_mut();
        let history = match &mut *kept {
            Some(history) => history,
            none => none.insert(History::open(&self.path)?),
        };
        let damaged = history.read(name, from_ns, to_ns, |sample| {
            each(sample.clock.realtime.0.cast_signed(), sample.value);
        })?;
        if damaged > 0 { Err(StoreError::Damaged("a series")) } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<u64, StoreError> {
        self.history.take();
        if let Some(store) = self.store.take() {
            store.close()?;
        }
        // Opened again, ticks that were in the journal become a block.
        let mut store = Store::open(&self.path, Retention::default())?;
        store.vacuum()?;
        self.store = Some(store);
        Ok(std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len()))
    }
}

/// A row of a table for each sample, in SQLite with the settings of the store.
#[derive(Debug)]
pub struct PlainTables {
    path: PathBuf,
    connection: Connection,
    ids: HashMap<String, SeriesId>,
}

impl PlainTables {
    /// In a new file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS samples (
                 series INTEGER NOT NULL, realtime_ns INTEGER NOT NULL, value REAL NOT NULL,
                 PRIMARY KEY (series, realtime_ns)
             ) WITHOUT ROWID;
             CREATE TABLE IF NOT EXISTS entities (key INTEGER PRIMARY KEY, data BLOB NOT NULL);",
        )?;
        Ok(Self { path: path.to_owned(), connection, ids: HashMap::new() })
    }

    /// Writes entities in one transaction.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn put<'r>(&mut self, entities: impl Iterator<Item = (i64, &'r [u8])>) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for (key, data) in entities {
            transaction
                .prepare_cached("INSERT OR REPLACE INTO entities (key, data) VALUES (?1, ?2)")?
                .execute(params![key, data])?;
        }
        Ok(transaction.commit()?)
    }

    /// An entity; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn get(&self, key: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT data FROM entities WHERE key = ?1")?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }

    /// Deletes entities in one transaction.
    ///
    /// # Errors
    /// If they cannot be deleted.
    pub fn delete(&mut self, keys: impl Iterator<Item = i64>) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for key in keys {
            transaction.prepare_cached("DELETE FROM entities WHERE key = ?1")?.execute([key])?;
        }
        Ok(transaction.commit()?)
    }
}

impl Engine for PlainTables {
    fn series(&mut self, name: &str, _kind: SeriesKind) -> SeriesId {
        let next = SeriesId(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
        *self.ids.entry(name.to_owned()).or_insert(next)
    }

    fn append(&mut self, tick: &Tick<'_>) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for (id, value) in tick.values {
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO samples (series, realtime_ns, value) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![id.0, tick.clock.realtime.0.cast_signed(), value])?;
        }
        Ok(transaction.commit()?)
    }

    fn read(
        &self,
        name: &str,
        from_ns: i64,
        to_ns: i64,
        each: &mut dyn FnMut(i64, f64),
    ) -> Result<(), StoreError> {
        let Some(id) = self.ids.get(name) else { return Ok(()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT realtime_ns, value FROM samples WHERE series = ?1 AND realtime_ns BETWEEN ?2 AND ?3 ORDER BY realtime_ns",
        )?;
        let mut rows = statement.query(params![id.0, from_ns, to_ns])?;
        while let Some(row) = rows.next()? {
            each(row.get(0)?, row.get(1)?);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<u64, StoreError> {
        self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len()))
    }
}
