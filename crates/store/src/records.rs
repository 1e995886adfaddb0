//! Records by key: what must survive a restart, but is not a series. They have a file of their own, with the settings and checksums of a
//! history.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::StoreError;
use crate::database::{self, Layout};
use crate::{aside, checksum};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS records (key INTEGER PRIMARY KEY, data BLOB NOT NULL);";

/// How large the records of a file are, most of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordSize {
    /// Up to a thousand bytes.
    Small,
    /// Some thousand bytes. Pages of 4 KiB have room for one, and are a third empty; those of 1 KiB are full.
    Large,
}

impl RecordSize {
    fn layout(self) -> Layout {
        let page_bytes = match self {
            Self::Small => 4096,
            Self::Large => 1024,
        };
        Layout { tables: TABLE, page_bytes }
    }
}

/// Pages that SQLite keeps in memory.
const CACHE_KIB: i64 = 256;
const PUT: &str = "INSERT OR REPLACE INTO records (key, data) VALUES (?1, ?2)";
const DELETE: &str = "DELETE FROM records WHERE key = ?1";

/// Records that are open.
#[derive(Debug)]
pub struct Records {
    connection: Connection,
    path: PathBuf,
    /// Device and inode of the file that was opened.
    identity: Option<(u64, u64)>,
    seen_version: Option<i64>,
}

impl Records {
    /// Opens a file for a command that writes, and makes it if there is none. Another process may hold its lock for seconds.
    ///
    /// # Errors
    /// If it cannot be opened, or was written by a newer version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_patiently(path, RecordSize::Small, database::QUESTION_PATIENCE)
    }

    /// Opens a file for a question. Its writer never waits for that.
    ///
    /// # Errors
    /// If there is none, it cannot be opened, or was written by a newer version.
    pub fn open_for_reading(path: &Path) -> Result<Self, StoreError> {
        Self::of(database::open_for_reading(path)?, path)
    }

    fn open_patiently(path: &Path, size: RecordSize, patience: Duration) -> Result<Self, StoreError> {
        Self::of(database::open(path, size.layout(), patience)?, path)
    }

    fn of(connection: Connection, path: &Path) -> Result<Self, StoreError> {
        // Each record is written and hardly read: there is nothing to keep in memory.
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        Ok(Self { connection, path: path.to_owned(), identity: aside::identity(path), seen_version: None })
    }

    /// Opens a file for the agent, which waits for no lock for long, and makes it for records of this size if there is none. A file that is
    /// damaged is renamed and a new one begun; returns what is to be said about that.
    ///
    /// # Errors
    /// As of [`Self::open`], or if it cannot be renamed.
    pub fn open_or_begin_again(path: &Path, size: RecordSize) -> Result<(Self, Option<String>), StoreError> {
        let open = || Self::open_patiently(path, size, database::AGENT_PATIENCE);
        match open() {
            Err(error) if error.is_damage() || aside::has_damaged_header(path) => {
                let renamed = aside::rename(path).map_err(StoreError::Rename)?;
                Ok((open()?, Some(aside::finding(&renamed, &error))))
            }
            opened => opened.map(|records| (records, None)),
        }
    }

    /// Returns whether the file is still at its place: records that are written into a removed file are lost.
    pub fn is_in_place(&self) -> bool {
        aside::identity(&self.path) == self.identity
    }

    /// Writes records in place of those with the same keys, all of them or none.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn put<'r>(&mut self, records: impl Iterator<Item = (i64, &'r [u8])>) -> Result<(), StoreError> {
        self.write(records, std::iter::empty())
    }

    /// Writes some and deletes others, all of that or nothing.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn write<'r>(
        &mut self,
        records: impl Iterator<Item = (i64, &'r [u8])>,
        deleted: impl Iterator<Item = i64>,
    ) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for (key, data) in records {
            transaction.prepare_cached(PUT)?.execute(params![key, checksum::seal(&[key], data)])?;
        }
        for key in deleted {
            transaction.prepare_cached(DELETE)?.execute([key])?;
        }
        Ok(transaction.commit()?)
    }

    /// Adds records behind the last key of a range: all of them or none. Other processes may add some at the same time: each gets keys of its
    /// own. Returns the first new key.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn append<'r>(
        &mut self,
        keys: Range<i64>,
        records: impl Iterator<Item = &'r [u8]>,
    ) -> Result<i64, StoreError> {
        // No other process writes between the question and the answer.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let last: Option<i64> = transaction
            .prepare_cached("SELECT max(key) FROM records WHERE key >= ?1 AND key < ?2")?
            .query_row([keys.start, keys.end], |row| row.get(0))?;
        let first = last.unwrap_or(keys.start) + 1;
        for (key, data) in (first..).zip(records) {
            transaction.prepare_cached(PUT)?.execute(params![key, checksum::seal(&[key], data)])?;
        }
        transaction.commit()?;
        Ok(first)
    }

    /// Moves what was written from the log into the file: the log would grow as long as this is open. What a power cut may take is
    /// what came after this.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        database::checkpoint(&self.connection)
    }

    /// Returns whether another connection has written something since the last call: PRAGMA data_version.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn was_changed_by_others(&mut self) -> Result<bool, StoreError> {
        let mut statement = self.connection.prepare_cached("PRAGMA data_version")?;
        let version: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(self.seen_version.replace(version) != Some(version))
    }

    /// A record; `None` if there is none.
    ///
    /// # Errors
    /// If it is damaged, or cannot be read.
    pub fn get(&self, key: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT data FROM records WHERE key = ?1")?;
        let sealed = statement
            .query_row([key], |row| Ok(row.get_ref(0)?.as_blob().map(<[u8]>::to_vec).unwrap_or_default()))
            .optional()?;
        let Some(sealed) = sealed else { return Ok(None) };
        checksum::open(&[key], &sealed).map(|data| Some(data.to_vec())).ok_or(StoreError::Damaged("a record"))
    }

    /// The records whose keys are in a range, in their order. One that is damaged is left out.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn range(&self, keys: Range<i64>) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT key, data FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key")?;
        let mut rows = statement.query(params![keys.start, keys.end])?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            let key: i64 = row.get(0)?;
            let sealed = row.get_ref(1)?.as_blob().unwrap_or_default();
            records.extend(checksum::open(&[key], sealed).map(|data| (key, data.to_vec())));
        }
        Ok(records)
    }

    /// The keys of all records, in their order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn keys(&self) -> Result<Vec<i64>, StoreError> {
        self.keys_in(i64::MIN..i64::MAX)
    }

    /// The keys in a range, in their order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn keys_in(&self, keys: Range<i64>) -> Result<Vec<i64>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT key FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key")?;
        let keys = statement.query_map(params![keys.start, keys.end], |row| row.get(0))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    /// Deletes records, all of them or none. One that is not there is none.
    ///
    /// # Errors
    /// If they cannot be deleted.
    pub fn delete(&mut self, keys: impl Iterator<Item = i64>) -> Result<(), StoreError> {
        self.write(std::iter::empty(), keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_those_of_the_file() {
        let directory = std::env::temp_dir().join(format!("whit-pages-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let pragma = |records: &Records, name: &str| -> i64 {
            records.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
        };
        for (name, size, page_bytes) in
            [("small", RecordSize::Small, 4096), ("large", RecordSize::Large, 1024)]
        {
            let path = directory.join(name);
            drop(Records::open_or_begin_again(&path, size).unwrap());
            // It keeps its pages, whatever it is opened for next.
            for size in [RecordSize::Small, RecordSize::Large] {
                let (mut records, _) = Records::open_or_begin_again(&path, size).unwrap();
                records.put(std::iter::once((7, &[5; 3000][..]))).unwrap();
                assert_eq!(records.get(7).unwrap().unwrap().len(), 3000);
                assert_eq!((pragma(&records, "page_size"), pragma(&records, "auto_vacuum")), (page_bytes, 2));
            }
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_many_add_at_once_is_all_there() {
        let directory = std::env::temp_dir().join(format!("whit-records-{}", std::process::id()));
        // An earlier run of the same number may have been ended.
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("records.sqlite");
        Records::open(&path).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let path = &path;
                scope.spawn(move || {
                    let mut records = Records::open(path).unwrap();
                    for _ in 0..25 {
                        records.append(100..1000, [&[writer][..], &[writer]].into_iter()).unwrap();
                    }
                });
            }
        });
        let all = Records::open(&path).unwrap().range(100..1000).unwrap();
        assert_eq!(all.iter().map(|(key, _)| *key).collect::<Vec<_>>(), (101..301).collect::<Vec<_>>());
        for writer in 0..4 {
            assert_eq!(all.iter().filter(|(_, data)| data == &[writer]).count(), 50);
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
