//! Deletes entries that are old and not listed any more, and feeds without readers.

use std::time::Duration;

use rusqlite::{Connection, params};

use crate::database::Library;
use crate::error::FeedError;

/// Entries of a feed that are kept although it does not list them any more.
const MAX_ENTRIES: i64 = 5000;
/// Their contents.
const MAX_FEED_BYTES: i64 = 64 * 1024 * 1024;
/// Entries that are deleted in one transaction: others wait for it.
const BATCH: usize = 500;

impl Library {
    /// Deletes entries that their feeds have not listed for `keep`, or that are more than a feed may have and not listed any more, except
    /// starred ones; and feeds without subscribers. Returns how many entries were deleted.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub fn forget_old(&mut self, keep: Duration, now_ms: i64) -> Result<u64, FeedError> {
        let keep_ms = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
        let old: Vec<i64> = self
            .connection
            .prepare_cached(
                "SELECT id FROM
                     (SELECT entries.id, listed_ms, listed_ms < document_ms AS is_unlisted,
                             row_number() OVER newest AS place, sum(octet_length(content)) OVER newest AS bytes
                      FROM entries JOIN feeds ON feeds.id = entries.feed
                      WINDOW newest AS (PARTITION BY entries.feed ORDER BY entries.id DESC ROWS UNBOUNDED PRECEDING))
                 WHERE is_unlisted AND (listed_ms < ?1 OR place > ?2 OR bytes > ?3)",
            )?
            .query_map([now_ms.saturating_sub(keep_ms), MAX_ENTRIES, MAX_FEED_BYTES], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut deleted = 0;
        for batch in old.chunks(BATCH) {
            let transaction = self.connection.transaction()?;
            for entry in batch {
                deleted += u64::from(delete_unstarred(&transaction, *entry)?);
            }
            transaction.commit()?;
        }
        let transaction = self.connection.transaction()?;
        remove_unused(&transaction)?;
        transaction.commit()?;
        self.give_space_back()?;
        Ok(deleted)
    }

    /// Shortens the file by pages that are free.
    fn give_space_back(&self) -> Result<(), FeedError> {
        // A row for each page.
        let mut vacuum = self.connection.prepare("PRAGMA incremental_vacuum(1000)")?;
        let mut pages = vacuum.query([])?;
        while pages.next()?.is_some() {}
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

/// Deletes an entry unless an account has starred it. Returns whether it was deleted.
fn delete_unstarred(connection: &Connection, entry: i64) -> Result<bool, FeedError> {
    let deleted = connection
        .prepare_cached(
            "DELETE FROM entries WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM marks WHERE entry = ?1 AND is_starred = 1)",
        )?
        .execute([entry])?;
    if deleted > 0 {
        connection.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([entry])?;
    }
    Ok(deleted > 0)
}

/// Deletes feeds that have neither subscribers nor starred entries.
pub(crate) fn remove_unused(connection: &Connection) -> Result<(), FeedError> {
    let unused: Vec<i64> = connection
        .prepare_cached(
            "SELECT id FROM feeds WHERE NOT EXISTS (SELECT 1 FROM subscriptions WHERE feed = feeds.id)
             AND NOT EXISTS (SELECT 1 FROM entries JOIN marks ON marks.entry = entries.id
                             WHERE entries.feed = feeds.id AND marks.is_starred = 1)",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for feed in unused {
        connection.execute(
            "DELETE FROM words WHERE rowid IN (SELECT id FROM entries WHERE feed = ?1)",
            params![feed],
        )?;
        connection.execute("DELETE FROM entries WHERE feed = ?1", params![feed])?;
        connection.execute("DELETE FROM feeds WHERE id = ?1", params![feed])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_becomes_shorter() {
        let mut library = Library::in_memory();
        library
            .connection
            .execute_batch(
                "CREATE TABLE filler AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                            SELECT randomblob(4000) FROM n; DROP TABLE filler;",
            )
            .unwrap();
        let free = |library: &Library| -> i64 {
            library.connection.query_row("PRAGMA freelist_count", [], |row| row.get(0)).unwrap()
        };
        assert!(free(&library) > 400);
        library.forget_old(Duration::from_secs(1), 0).unwrap();
        assert_eq!(free(&library), 0);
    }
}
