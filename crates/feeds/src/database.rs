//! The database: its tables, and how it is opened.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::FeedError;

/// Its name in the data directory.
const FILE: &str = "feeds.sqlite";
/// The format that is written.
const FORMAT: i64 = 2;
/// Another process (`whit feeds`) may write for so long.
const BUSY: Duration = Duration::from_secs(5);
/// Pages that SQLite keeps in memory for each connection.
const CACHE_KIB: i64 = 1024;

const TABLES: &str = "
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    created_ms INTEGER NOT NULL
);
CREATE TABLE sessions (
    digest BLOB PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
    created_ms INTEGER NOT NULL,
    is_program INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_account ON sessions (account, is_program, created_ms);
CREATE TABLE feeds (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL DEFAULT '',
    site TEXT NOT NULL DEFAULT '',
    next_ms INTEGER NOT NULL,
    polled_ms INTEGER,
    fetched_ms INTEGER,
    document_ms INTEGER,
    document_digest BLOB,
    hint_s INTEGER NOT NULL DEFAULT 0,
    failing_since_ms INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    is_gone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX feeds_by_time ON feeds (next_ms) WHERE is_gone = 0;
CREATE TABLE pauses (
    host TEXT PRIMARY KEY,
    until_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE subscriptions (
    account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
    feed INTEGER NOT NULL REFERENCES feeds,
    title TEXT NOT NULL DEFAULT '',
    folder TEXT NOT NULL DEFAULT '',
    listed_since_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (account, feed)
) WITHOUT ROWID;
CREATE INDEX subscriptions_by_feed ON subscriptions (feed);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    feed INTEGER NOT NULL REFERENCES feeds,
    identity TEXT NOT NULL,
    link TEXT NOT NULL,
    title TEXT NOT NULL,
    author TEXT NOT NULL,
    published_ms INTEGER,
    received_ms INTEGER NOT NULL,
    sort_ms INTEGER NOT NULL,
    listed_ms INTEGER NOT NULL,
    digest BLOB NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (feed, identity)
);
CREATE INDEX entries_by_time ON entries (feed, sort_ms, id, listed_ms);
CREATE INDEX entries_by_age ON entries (sort_ms, id);
CREATE INDEX entries_by_link ON entries (feed, link);
CREATE TABLE marks (
    account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
    entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    is_read INTEGER NOT NULL DEFAULT 0,
    is_starred INTEGER NOT NULL DEFAULT 0,
    changed_ms INTEGER NOT NULL,
    PRIMARY KEY (account, entry)
) WITHOUT ROWID;
CREATE INDEX marks_by_entry ON marks (entry);
CREATE INDEX starred ON marks (account, entry) WHERE is_starred = 1;
CREATE VIRTUAL TABLE words USING fts5(title, author, body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
";

/// Makes format 2 of format 1. When a subscription began was not kept: before all of its entries.
const FROM_1: &str = "
ALTER TABLE sessions ADD COLUMN is_program INTEGER NOT NULL DEFAULT 0;
DROP INDEX sessions_by_account;
CREATE INDEX sessions_by_account ON sessions (account, is_program, created_ms);
CREATE TABLE pauses (
    host TEXT PRIMARY KEY,
    until_ms INTEGER NOT NULL
) WITHOUT ROWID;
ALTER TABLE subscriptions ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX entries_by_age ON entries (sort_ms, id);
";

/// Accounts, subscriptions, entries and marks, in one SQLite file. A change is safe from the end of the process when its method
/// returns.
#[derive(Debug)]
pub struct Library {
    pub(crate) connection: Connection,
    seen_version: Option<i64>,
}

impl Library {
    /// Opens the library of a data directory, and creates it if there is none.
    ///
    /// # Errors
    /// If the file cannot be opened, or a newer version wrote it.
    pub fn open(directory: &Path) -> Result<Self, FeedError> {
        // As the agent does it.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        let path = directory.join(FILE);
        // Passwords and reading habits: for the owner alone. SQLite gives its log the same permissions.
        let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        Self::prepare(Connection::open(&path)?)
    }

    /// A library in memory, for tests.
    #[cfg(test)]
    pub(crate) fn in_memory() -> Self {
        Self::prepare(Connection::open_in_memory().unwrap()).unwrap()
    }

    fn prepare(mut connection: Connection) -> Result<Self, FeedError> {
        connection.busy_timeout(BUSY)?;
        // A transaction that reads first and writes then would fail at once if another process has written in between.
        connection.set_transaction_behavior(TransactionBehavior::Immediate);
        connection.pragma_update(None, "cell_size_check", true)?;
        // The following pragmas write.
        let format = format_of(&connection)?;
        if format > FORMAT {
            return Err(FeedError::Newer(format));
        }
        // Before the journal's mode: it cannot be changed once there are tables.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        let transaction = connection.transaction()?;
        let format = format_of(&transaction)?;
        match format {
            0 => transaction.execute_batch(TABLES)?,
            1 => transaction.execute_batch(FROM_1)?,
            FORMAT => {}
            newer => return Err(FeedError::Newer(newer)),
        }
        if format != FORMAT {
            transaction.pragma_update(None, "user_version", FORMAT)?;
        }
        transaction.commit()?;
        Ok(Self { connection, seen_version: None })
    }

    /// Returns whether a data directory has a library.
    ///
    /// # Errors
    /// If that cannot be known, because the directory must not be searched, for example.
    pub fn is_in(directory: &Path) -> io::Result<bool> {
        directory.join(FILE).try_exists()
    }

    /// Returns whether another connection has changed something since the last call: PRAGMA data_version.
    ///
    /// # Errors
    /// If that cannot be read.
    pub(crate) fn was_changed_by_others(&mut self) -> Result<bool, FeedError> {
        let version: i64 =
            self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        Ok(self.seen_version.replace(version) != Some(version))
    }
}

/// The format of a file; 0 if it is new.
fn format_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_newer_version_is_not_touched() {
        let library = Library::in_memory();
        library.connection.pragma_update(None, "user_version", FORMAT + 1).unwrap();
        assert!(matches!(Library::prepare(library.connection), Err(FeedError::Newer(3))));
    }

    #[test]
    fn a_file_of_format_1_becomes_one_of_today() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("database_format_1.sql")).unwrap();
        let library = Library::prepare(connection).unwrap();
        let parts = |library: &Library| -> Vec<String> {
            // The types and places of columns, and what is indexed.
            let columns = "SELECT m.name || ' ' || i.name || ' ' || i.type || i.\"notnull\" FROM sqlite_schema m, pragma_table_info(m.name) i ORDER BY 1";
            let mut statement = library.connection.prepare(columns).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(parts(&library), parts(&Library::in_memory()));
        let kept = "SELECT count(*) FROM accounts, sessions, feeds, subscriptions, entries, marks, words('text') WHERE is_program = 0 AND is_starred = 1";
        assert_eq!(library.connection.query_one(kept, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
        assert!(Library::prepare(library.connection).is_ok(), "it is of today");
    }

    #[test]
    fn several_processes_write_at_once() {
        let directory = std::env::temp_dir().join(format!("whit-library-{}", std::process::id()));
        let mut library = Library::open(&directory).unwrap();
        let account = library.add_account("ann", "correct horse", 0).unwrap();
        let write = |writer: usize| {
            let mut library = Library::open(&directory).unwrap();
            for feed in 0..100 {
                let url = format!("http://example.org/{writer}/{feed}");
                library.subscribe(&account, &url, "", "", 0).unwrap();
            }
        };
        std::thread::scope(|scope| {
            let writers = [0, 1, 2].map(|writer| scope.spawn(move || write(writer)));
            for writer in writers {
                writer.join().unwrap();
            }
        });
        let count = library.subscriptions(&account).unwrap().len();
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!(count, 300);
    }
}
