//! The file: its tables, and how it is opened.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::StoreError;

/// The format that is written.
pub(crate) const FORMAT: i64 = 1;

/// The format once more, with "wh" before it: a version that is not the same in both places is damaged, not newer.
const APPLICATION: i64 = 0x7768_0000;

/// What a new file is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) tables: &'static str,
    pub(crate) page_bytes: u32,
}

/// That of a history: docs/FORMAT.md.
pub(crate) const HISTORY: Layout = Layout { tables: TABLES, page_bytes: 4096 };

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS series (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS boots (
    id INTEGER PRIMARY KEY,
    boot_id BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS journal (
    block INTEGER NOT NULL,
    place INTEGER NOT NULL,
    boot INTEGER NOT NULL,
    entry BLOB NOT NULL,
    PRIMARY KEY (block, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (
    id INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,
    span INTEGER NOT NULL,
    step_s INTEGER NOT NULL,
    first_ns INTEGER NOT NULL,
    last_ns INTEGER NOT NULL,
    lasts_s INTEGER NOT NULL,
    head BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS blocks_by_time ON blocks (last_ns, first_ns, position);
CREATE INDEX IF NOT EXISTS blocks_by_position ON blocks (position, span, step_s, last_ns, lasts_s);
CREATE TABLE IF NOT EXISTS columns (
    block INTEGER NOT NULL,
    series INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (block, series)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS task_journal (
    chunk INTEGER NOT NULL,
    place INTEGER NOT NULL,
    base INTEGER NOT NULL,
    boot INTEGER NOT NULL,
    entry BLOB NOT NULL,
    PRIMARY KEY (chunk, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS task_chunks (
    id INTEGER PRIMARY KEY,
    base INTEGER NOT NULL,
    boot INTEGER NOT NULL,
    step_s INTEGER NOT NULL,
    first_ns INTEGER NOT NULL,
    last_ns INTEGER NOT NULL,
    lasts_s INTEGER NOT NULL,
    living BLOB NOT NULL,
    ended BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS task_chunks_by_time ON task_chunks (last_ns, first_ns, base);
CREATE INDEX IF NOT EXISTS task_chunks_by_id ON task_chunks (id, base, step_s, last_ns, lasts_s);
CREATE TABLE IF NOT EXISTS task_names (
    boot INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    id INTEGER NOT NULL,
    start_ns INTEGER NOT NULL,
    seen_ns INTEGER NOT NULL,
    name BLOB NOT NULL,
    PRIMARY KEY (boot, kind, id, start_ns)
) WITHOUT ROWID;
";

/// How long the agent waits for a lock of another process: not so long that ticks are missed, since it tries again later.
pub(crate) const AGENT_PATIENCE: Duration = Duration::from_millis(200);
/// How long a command or a query waits for a lock. It ends with an error if it waited in vain: the agent, at its low priority on a busy
/// machine, may hold the lock for long.
pub(crate) const QUESTION_PATIENCE: Duration = Duration::from_secs(5);

/// Opens a file for writing, and makes it if it is not there. `patience` is how long each lock is waited for.
pub(crate) fn open(path: &Path, layout: Layout, patience: Duration) -> Result<Connection, StoreError> {
    // It has all users' tasks. SQLite gives its log the same permissions.
    let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let connection = Connection::open(path)?;
    set_up(&connection, patience)?;
    match format_of(&connection)? {
        0 => begin(&connection, layout)?,
        FORMAT => {}
        newer => return Err(StoreError::Newer(newer)),
    }
    Ok(connection)
}

/// Sets what each connection that writes needs.
fn set_up(connection: &Connection, patience: Duration) -> Result<(), StoreError> {
    connection.busy_timeout(patience)?;
    // SQLite's own check that the cells of a page are in it, of every page from the first one on.
    connection.pragma_update(None, "cell_size_check", true)?;
    // A commit is safe from the process' end without being synced; what power loss may take is synced at checkpoints.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(())
}

/// Makes the tables of a new file. These pragmas take the lock of a writer even if they change nothing.
fn begin(connection: &Connection, Layout { tables, page_bytes }: Layout) -> Result<(), StoreError> {
    // These must come first: they cannot be changed once the file has a page.
    connection.pragma_update(None, "page_size", page_bytes)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // In one transaction: a reader sees all of it or nothing, also after this process was killed. Its lock is taken first, since another
    // process may make the same tables, and a lock that is taken later is not waited for.
    Ok(connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {tables} PRAGMA user_version = {FORMAT}; PRAGMA application_id = {}; COMMIT",
        APPLICATION + FORMAT
    ))?)
}

/// Opens the file for reading, beside its writer.
pub(crate) fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(QUESTION_PATIENCE)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    match format_of(&connection)? {
        FORMAT => Ok(connection),
        0 => Err(StoreError::Empty),
        newer => Err(StoreError::Newer(newer)),
    }
}

/// A pragma whose value is a number.
fn number(connection: &Connection, pragma: &str) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
}

fn format_of(connection: &Connection) -> Result<i64, StoreError> {
    match (number(connection, "user_version")?, number(connection, "application_id")?) {
        (0, 0) => Ok(0),
        (version, application) if application == APPLICATION + version => Ok(version),
        _ => Err(StoreError::Damaged("the format's number")),
    }
}

/// Syncs what was written, and moves it from the log into the file as far as no reader needs it there.
pub(crate) fn checkpoint(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}

/// Syncs a history over a connection of its own, and makes its log start over. The first write into a log that starts over syncs the log's
/// header; this is that write, so that none of the recorder has to sync.
pub(crate) fn sync(path: &Path) -> Result<(), StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    set_up(&connection, AGENT_PATIENCE)?;
    let format = format_of(&connection)?;
    checkpoint(&connection)?;
    // The value stays what it is.
    let begun = connection.execute_batch(&format!("BEGIN IMMEDIATE; PRAGMA user_version = {format}; COMMIT"));
    match begun {
        // Another process writes, and its write is the first one.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        begun => Ok(begun?),
    }
}

/// The size of the file, without its log.
pub(crate) fn file_bytes(connection: &Connection) -> Result<u64, StoreError> {
    bytes_of_pages(connection, "page_count")
}

/// The part of it that is free.
pub(crate) fn free_bytes(connection: &Connection) -> Result<u64, StoreError> {
    bytes_of_pages(connection, "freelist_count")
}

fn bytes_of_pages(connection: &Connection, pages: &str) -> Result<u64, StoreError> {
    let bytes = number(connection, pages)?.saturating_mul(number(connection, "page_size")?);
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// Deletes columns of blocks that a killed writer did not complete. Their ticks are in the journal, or in the blocks from which they
/// were made.
pub(crate) fn delete_orphans(connection: &Connection) -> Result<(), StoreError> {
    let mut last = i64::MIN;
    let mut next = connection.prepare("SELECT min(block) FROM columns WHERE block > ?1")?;
    let mut is_block = connection.prepare("SELECT count(*) FROM blocks WHERE id = ?1")?;
    while let Some(block) = next.query_row([last], |row| row.get::<_, Option<i64>>(0))? {
        if is_block.query_row([block], |row| row.get::<_, i64>(0))? == 0 {
            connection.execute("DELETE FROM columns WHERE block = ?1", [block])?;
        }
        last = block;
    }
    Ok(())
}
