//! Feeds as the poller sees them: which are due, and what a poll changes.

use std::ops::ControlFlow;
use std::time::Duration;

use blake2::{Blake2s256, Digest as _};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use syndication::{ParsedEntry, ParsedFeed, plain_text};

use crate::cache::DocumentDigest;
use crate::database::Library;
use crate::error::FeedError;
use crate::retention::remove_unused;
use crate::rhythm::MAX_HINT;

/// The most text of an entry that the search knows, in bytes.
const MAX_SEARCHED_BYTES: usize = 100_000;
/// Times of entries that decide about the interval.
const RHYTHM_ENTRIES: i64 = 12;

/// A feed that is to be polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DueFeed {
    pub(crate) id: i64,
    pub(crate) url: String,
    /// The document whose entries are here; `None`: there was none.
    pub(crate) known: Option<DocumentDigest>,
    pub(crate) failures: u32,
    /// Its subscribers.
    pub(crate) accounts: Vec<i64>,
}

/// The result of a poll.
#[derive(Debug)]
pub(crate) struct Polled<'p> {
    /// The feed in the document; `None` if it has not changed.
    pub(crate) feed: Option<&'p ParsedFeed>,
    /// The document's digest.
    pub(crate) digest: Option<&'p DocumentDigest>,
    /// The address from now on.
    pub(crate) moved_to: Option<&'p str>,
}

impl Library {
    /// Calls `see` for each feed that has subscribers and is due, the longest due first, until it breaks.
    pub(crate) fn each_due_feed(
        &self,
        now_ms: i64,
        mut see: impl FnMut(DueFeed) -> ControlFlow<()>,
    ) -> Result<(), FeedError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, url, document_digest, failures, (SELECT group_concat(account) FROM subscriptions WHERE feed = feeds.id)
             FROM feeds WHERE is_gone = 0 AND next_ms <= ?1 AND EXISTS (SELECT 1 FROM subscriptions WHERE feed = feeds.id)
             ORDER BY next_ms",
        )?;
        let mut rows = statement.query([now_ms])?;
        while let Some(row) = rows.next()? {
            let feed = DueFeed {
                id: row.get(0)?,
                url: row.get(1)?,
                known: row.get::<_, Option<Vec<u8>>>(2)?.map(DocumentDigest),
                failures: row.get(3)?,
                accounts: row
                    .get::<_, String>(4)?
                    .split(',')
                    .filter_map(|account| account.parse().ok())
                    .collect(),
            };
            if see(feed).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// When the next feed is due, in milliseconds since 1970.
    pub(crate) fn next_due_ms(&self) -> Result<Option<i64>, FeedError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT next_ms FROM feeds
             WHERE is_gone = 0 AND EXISTS (SELECT 1 FROM subscriptions WHERE feed = feeds.id)
             ORDER BY next_ms LIMIT 1",
        )?;
        Ok(statement.query_row([], |row| row.get(0)).optional()?)
    }

    /// The times of a feed's newest entries, and what its publisher wishes. Entries without dates that were there from the beginning
    /// say nothing of when they came.
    pub(crate) fn rhythm_of(&self, feed: i64) -> Result<(Vec<i64>, Duration), FeedError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT sort_ms FROM entries WHERE feed = ?1 AND (published_ms IS NOT NULL OR received_ms >
                                 (SELECT received_ms FROM entries WHERE feed = ?1 ORDER BY sort_ms LIMIT 1))
                             ORDER BY sort_ms DESC LIMIT ?2",
        )?;
        let times =
            statement.query_map([feed, RHYTHM_ENTRIES], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut statement = self.connection.prepare_cached("SELECT hint_s FROM feeds WHERE id = ?1")?;
        let hint_s: Option<i64> = statement.query_row([feed], |row| row.get(0)).optional()?;
        Ok((times, Duration::from_secs(hint_s.unwrap_or(0).max(0).unsigned_abs())))
    }

    /// A poll succeeded. Returns how many entries are new. Nothing happens if the feed has lost its readers meanwhile.
    pub(crate) fn apply(&mut self, feed: i64, polled: &Polled<'_>, now_ms: i64) -> Result<u64, FeedError> {
        let transaction = self.connection.transaction()?;
        let mut added = 0;
        let is_there = transaction
            .prepare_cached(
                "UPDATE feeds SET polled_ms = ?2, fetched_ms = ?2, failing_since_ms = NULL, failures = 0, error = '' WHERE id = ?1",
            )?
            .execute(params![feed, now_ms])?;
        if is_there == 0 {
            return Ok(0);
        }
        if let Some(parsed) = polled.feed {
            let last_ms: Option<i64> = transaction
                .prepare_cached("SELECT document_ms FROM feeds WHERE id = ?1")?
                .query_row([feed], |row| row.get(0))?;
            // Documents follow one another, also if the clock was ahead before: what subscriptions see depends on their order.
            let document_ms = last_ms.map_or(now_ms, |last_ms| now_ms.max(last_ms + 1));
            let hint_s = parsed.hint.unwrap_or_default().min(MAX_HINT).as_secs();
            let digest = polled.digest.map(|digest| digest.0.as_slice());
            transaction
                .prepare_cached(
                    "UPDATE feeds SET title = ?2, site = ?3, hint_s = ?4, document_ms = ?5, document_digest = ?6 WHERE id = ?1",
                )?
                .execute(params![feed, parsed.title, parsed.site, hint_s.cast_signed(), document_ms, digest])?;
            // What this one does not list any more was listed until now: from here on counts how long it is kept.
            transaction
                .prepare_cached("UPDATE entries SET listed_ms = ?3 - 1 WHERE feed = ?1 AND listed_ms = ?2")?
                .execute(params![feed, last_ms, document_ms])?;
            // Before any of them: an entry that is listed is not one that got another identity.
            let mut listed = transaction
                .prepare_cached("UPDATE entries SET listed_ms = ?3 WHERE feed = ?1 AND identity = ?2")?;
            for entry in &parsed.entries {
                listed.execute(params![feed, entry.identity, document_ms])?;
            }
            // The first one is the newest, and gets the highest number.
            for (place, entry) in parsed.entries.iter().enumerate().rev() {
                added += u64::from(put_entry(&transaction, feed, entry, [now_ms, document_ms], place)?);
            }
        }
        if let Some(url) = polled.moved_to {
            move_feed(&transaction, feed, url)?;
        }
        transaction.commit()?;
        Ok(added)
    }

    /// A poll failed. What is known of the feed stays.
    pub(crate) fn note_failure(
        &mut self,
        feed: i64,
        error: &str,
        is_gone: bool,
        now_ms: i64,
    ) -> Result<(), FeedError> {
        self.connection
            .prepare_cached(
                "UPDATE feeds SET polled_ms = ?2, failing_since_ms = coalesce(failing_since_ms, ?2),
                 failures = failures + 1, error = ?3, is_gone = ?4 WHERE id = ?1",
            )?
            .execute(params![feed, now_ms, error, is_gone])?;
        Ok(())
    }

    /// Feeds that are to be polled later than ever possible are due: the clock was ahead when that was written.
    pub(crate) fn reschedule_beyond(&mut self, most_ms: i64, now_ms: i64) -> Result<(), FeedError> {
        self.connection.execute("UPDATE feeds SET next_ms = ?2 WHERE next_ms > ?1", [most_ms, now_ms])?;
        Ok(())
    }

    /// Hosts that want a pause, and until when.
    pub(crate) fn pauses(&self) -> Result<Vec<(String, i64)>, FeedError> {
        let mut statement = self.connection.prepare("SELECT host, until_ms FROM pauses")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Remembers a pause, also for the next start, and forgets those that are over.
    pub(crate) fn note_pause(&mut self, host: &str, until_ms: i64, now_ms: i64) -> Result<(), FeedError> {
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM pauses WHERE until_ms < ?1", [now_ms])?;
        transaction.execute(
            "INSERT INTO pauses (host, until_ms) VALUES (?1, ?2)
             ON CONFLICT (host) DO UPDATE SET until_ms = max(until_ms, excluded.until_ms)",
            params![host, until_ms],
        )?;
        Ok(transaction.commit()?)
    }

    /// Sets when a feed is polled next.
    pub(crate) fn schedule(&mut self, feed: i64, next_ms: i64) -> Result<(), FeedError> {
        self.connection
            .prepare_cached("UPDATE feeds SET next_ms = ?2 WHERE id = ?1")?
            .execute(params![feed, next_ms])?;
        Ok(())
    }
}

/// Writes an entry of a document, which is dated; whether it is a new one.
fn put_entry(
    transaction: &Transaction<'_>,
    feed: i64,
    entry: &ParsedEntry,
    [now_ms, document_ms]: [i64; 2],
    place: usize,
) -> Result<bool, FeedError> {
    // A date that was never set (0001-01-01, 1970-01-01) is none.
    let published_ms = entry.published_ms.filter(|published| *published > 0);
    let digest = digest(entry);
    let known: Option<(i64, Vec<u8>)> = transaction
        .prepare_cached("SELECT id, digest FROM entries WHERE feed = ?1 AND identity = ?2")?
        .query_row(params![feed, entry.identity], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let known = match known {
        None => renamed(transaction, feed, entry, published_ms, document_ms)?,
        known => known,
    };
    if let Some((id, old_digest)) = &known {
        if *old_digest == digest {
            return Ok(false);
        }
        // The time by which it is sorted stays: a corrected entry is not a new one.
        transaction
            .prepare_cached(
                "UPDATE entries SET identity = ?2, link = ?3, title = ?4, author = ?5, published_ms = ?6, listed_ms = ?7,
                 digest = ?8, content = ?9 WHERE id = ?1",
            )?
            .execute(params![
                id,
                entry.identity,
                entry.link,
                entry.title,
                entry.author,
                published_ms,
                document_ms,
                digest,
                entry.content
            ])?;
        transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
        index(transaction, *id, entry)?;
        return Ok(false);
    }
    // A date in the future would stay at the top; without a date the order of the document counts.
    let received_ms = now_ms - place as i64;
    let sort_ms = published_ms.map_or(received_ms, |published| published.min(received_ms));
    transaction
        .prepare_cached(
            "INSERT INTO entries (feed, identity, link, title, author, published_ms, received_ms, sort_ms, listed_ms, digest, content)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            feed,
            entry.identity,
            entry.link,
            entry.title,
            entry.author,
            published_ms,
            now_ms,
            sort_ms,
            document_ms,
            digest,
            entry.content
        ])?;
    index(transaction, transaction.last_insert_rowid(), entry)?;
    Ok(true)
}

/// An entry that got another identity (a feed that moved to https, or to another program): the one that has its link, title and date, or
/// without a date its content, if that is not listed under its own identity as well.
fn renamed(
    transaction: &Transaction<'_>,
    feed: i64,
    entry: &ParsedEntry,
    published_ms: Option<i64>,
    document_ms: i64,
) -> Result<Option<(i64, Vec<u8>)>, FeedError> {
    if entry.link.is_empty() || entry.title.is_empty() {
        return Ok(None);
    }
    let bare = entry.link.trim_start_matches("https").trim_start_matches("http");
    let found: Vec<(i64, Vec<u8>)> = transaction
        .prepare_cached(
            "SELECT id, x'' FROM entries
             WHERE feed = ?1 AND link IN ('http' || ?2, 'https' || ?2) AND title = ?3 AND listed_ms < ?4
             AND published_ms IS ?5 AND (published_ms IS NOT NULL OR content = ?6) LIMIT 2",
        )?
        .query_map(params![feed, bare, entry.title, document_ms, published_ms, entry.content], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    Ok(match found.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    })
}

/// A digest that differs between two versions of an entry.
fn digest(entry: &ParsedEntry) -> Vec<u8> {
    let mut digest = Blake2s256::new();
    for part in [&entry.link, &entry.title, &entry.author, &entry.content] {
        digest.update(part);
        digest.update([0]);
    }
    digest.update(entry.published_ms.unwrap_or(i64::MIN).to_le_bytes());
    digest.finalize()[..16].to_vec()
}

fn index(connection: &Connection, id: i64, entry: &ParsedEntry) -> Result<(), FeedError> {
    connection
        .prepare_cached("INSERT INTO words (rowid, title, author, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id, entry.title, entry.author, plain_text(&entry.content, MAX_SEARCHED_BYTES)])?;
    Ok(())
}

/// Gives a feed another address. If another feed has it, that one gets the subscribers, and what they have read and starred.
fn move_feed(transaction: &Transaction<'_>, feed: i64, url: &str) -> Result<(), FeedError> {
    let other: Option<i64> =
        transaction.query_row("SELECT id FROM feeds WHERE url = ?1", [url], |row| row.get(0)).optional()?;
    match other {
        Some(other) if other == feed => {}
        None => {
            transaction.execute("UPDATE feeds SET url = ?2 WHERE id = ?1", params![feed, url])?;
        }
        Some(other) => join_feeds(transaction, feed, other)?,
    }
    Ok(())
}

/// Gives the subscribers of a feed to another one, with what they have read and starred.
fn join_feeds(transaction: &Transaction<'_>, feed: i64, other: i64) -> Result<(), FeedError> {
    // Its address has just answered, whatever it did before.
    transaction.execute(
        "UPDATE feeds SET is_gone = 0, failures = 0, failing_since_ms = NULL, error = '',
             next_ms = CASE WHEN failing_since_ms IS NULL THEN next_ms ELSE (SELECT polled_ms FROM feeds WHERE id = ?1) END
         WHERE id = ?2",
        [feed, other],
    )?;
    // The owner of a feed could put entries into any other feed, by redirecting to it: readers of that one must not see them.
    let has_other_readers: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM subscriptions WHERE feed = ?2
                        AND account NOT IN (SELECT account FROM subscriptions WHERE feed = ?1))",
        [feed, other],
        |row| row.get(0),
    )?;
    if !has_other_readers {
        transaction.execute("UPDATE OR IGNORE entries SET feed = ?2 WHERE feed = ?1", [feed, other])?;
        // Who reads both sees what both have brought.
        transaction.execute(
            "UPDATE subscriptions SET listed_since_ms = min(listed_since_ms,
                 (SELECT listed_since_ms FROM subscriptions AS own WHERE own.account = subscriptions.account AND own.feed = ?1))
             WHERE feed = ?2",
            [feed, other],
        )?;
    }
    // The new readers get no more than what the other one lists now.
    transaction.execute(
        "UPDATE OR IGNORE subscriptions SET feed = ?2, listed_since_ms =
             (SELECT CASE WHEN ?3 THEN coalesce(document_ms, 0) ELSE min(listed_since_ms, coalesce(document_ms, 0)) END
              FROM feeds WHERE id = ?2)
         WHERE feed = ?1",
        params![feed, other, has_other_readers],
    )?;
    transaction.execute("DELETE FROM subscriptions WHERE feed = ?1", [feed])?;
    transaction.execute(
        "INSERT INTO marks (account, entry, is_read, is_starred, changed_ms)
         SELECT marks.account, twin.id, marks.is_read, marks.is_starred, marks.changed_ms
         FROM marks JOIN entries AS own ON own.id = marks.entry
         JOIN entries AS twin ON twin.feed = ?2 AND twin.identity = own.identity WHERE own.feed = ?1
         ON CONFLICT (account, entry) DO UPDATE SET
             is_read = max(is_read, excluded.is_read), is_starred = max(is_starred, excluded.is_starred)",
        [feed, other],
    )?;
    // Starred entries that the other feed does not have keep this one.
    transaction.execute(
        "UPDATE marks SET is_starred = 0 WHERE entry IN
             (SELECT own.id FROM entries AS own JOIN entries AS twin ON twin.feed = ?2 AND twin.identity = own.identity
              WHERE own.feed = ?1)",
        [feed, other],
    )?;
    remove_unused(transaction)
}
