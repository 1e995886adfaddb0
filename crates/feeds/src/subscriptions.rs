//! Subscriptions: which feeds an account reads, under which names and in which folders.

use rusqlite::{OptionalExtension as _, Transaction, params};
use syndication::{Outline, opml, parse_url};

use crate::accounts::Account;
use crate::database::Library;
use crate::error::FeedError;
use crate::retention::remove_unused;

/// Feeds of one account.
const MAX_SUBSCRIPTIONS: i64 = 5000;
/// The shortest time between two polls of a failing feed if a user asks for another one.
const MIN_RETRY_MS: i64 = 60_000;
const MAX_NAME_BYTES: usize = 300;

/// A feed of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The feed's number.
    pub feed: i64,
    /// Its address.
    pub url: String,
    /// The account's name for it, else the feed's own, else its address.
    pub title: String,
    /// The title is the account's own name for the feed.
    pub is_renamed: bool,
    /// Its page; empty: unknown.
    pub site: String,
    /// The folder; empty: none.
    pub folder: String,
    /// Entries that the account has not read.
    pub unread: u64,
    /// When it was last fetched, in milliseconds since 1970.
    pub fetched_ms: Option<i64>,
    /// Since when it cannot be fetched, in milliseconds since 1970.
    pub failing_since_ms: Option<i64>,
    /// Why; empty: it can be fetched.
    pub error: String,
    /// The server says that the feed will not come back.
    pub is_gone: bool,
    /// When it is polled next, in milliseconds since 1970.
    pub next_ms: i64,
    /// The time of its newest entry, in milliseconds since 1970.
    pub newest_ms: Option<i64>,
    /// When its last entry was received, in milliseconds since 1970.
    pub newest_received_ms: Option<i64>,
}

impl Subscription {
    /// Why the feed has no news, and since when; `None` if its last poll succeeded, or there was none.
    pub fn trouble(&self, now_ms: i64) -> Option<String> {
        let since_ms = self.failing_since_ms?;
        Some(match self.is_gone {
            true => format!("gone for {}: {}", age(since_ms, now_ms), self.error),
            false => format!("failing for {}: {}", age(since_ms, now_ms), self.error),
        })
    }
}

/// How long ago something was.
pub(crate) fn age(at_ms: i64, now_ms: i64) -> String {
    let span = facts::unit::Nanos((now_ms - at_ms).max(0).unsigned_abs().saturating_mul(1_000_000));
    text::units::Span(span).to_string()
}

/// Entries that an account has not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadCount {
    /// The account's name.
    pub account: String,
    /// Their number.
    pub unread: u64,
}

/// The result of importing a list of subscriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedList {
    /// Feeds that are new, or were subscribed already.
    pub subscribed: usize,
    /// Why each of the others was refused.
    pub refused: Vec<String>,
}

impl Library {
    /// Subscribes to a feed. A feed that was subscribed already gets the name and folder if these are not empty. Returns its number.
    ///
    /// # Errors
    /// If the address cannot be one of a feed, or the account has too many.
    pub fn subscribe(
        &mut self,
        account: &Account,
        url: &str,
        title: &str,
        folder: &str,
        now_ms: i64,
    ) -> Result<i64, FeedError> {
        let transaction = self.connection.transaction()?;
        let outline = Outline {
            url: url.to_owned(),
            title: title.to_owned(),
            folder: folder.to_owned(),
            ..Outline::default()
        };
        let feed = subscribe(&transaction, account, &outline, now_ms)?;
        transaction.commit()?;
        Ok(feed)
    }

    /// Subscribes to the feeds of a list in OPML.
    ///
    /// # Errors
    /// If it is not OPML, or the library cannot be written; then none of them is subscribed.
    pub fn import(
        &mut self,
        account: &Account,
        document: &[u8],
        now_ms: i64,
    ) -> Result<ImportedList, FeedError> {
        let outlines = opml::read(document).map_err(|error| FeedError::refused(error.to_string()))?;
        let transaction = self.connection.transaction()?;
        let mut imported = ImportedList::default();
        for outline in &outlines {
            match subscribe(&transaction, account, outline, now_ms) {
                Ok(_) => imported.subscribed += 1,
                // One that cannot be subscribed to does not keep others away.
                Err(FeedError::Refused(reason)) => imported.refused.push(reason),
                Err(error) => return Err(error),
            }
        }
        transaction.commit()?;
        Ok(imported)
    }

    /// The subscriptions of an account as a list in OPML.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn export(&self, account: &Account) -> Result<String, FeedError> {
        let outline = |one: Subscription| Outline {
            url: one.url,
            title: one.title,
            folder: one.folder,
            site: one.site,
        };
        let outlines: Vec<Outline> = self.subscriptions(account)?.into_iter().map(outline).collect();
        Ok(opml::write(&format!("Feeds of {}", account.name), &outlines))
    }

    /// Ends a subscription. Whether there was one.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub fn unsubscribe(&mut self, account: &Account, feed: i64) -> Result<bool, FeedError> {
        let transaction = self.connection.transaction()?;
        let removed = transaction
            .execute("DELETE FROM subscriptions WHERE account = ?1 AND feed = ?2", [account.id, feed])?;
        remove_unused(&transaction)?;
        transaction.commit()?;
        Ok(removed > 0)
    }

    /// Sets a subscription's name, or its folder; empty for none.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub fn edit_subscription(
        &mut self,
        account: &Account,
        feed: i64,
        title: Option<&str>,
        folder: Option<&str>,
    ) -> Result<bool, FeedError> {
        let changed = self.connection.execute(
            "UPDATE subscriptions SET title = coalesce(?3, title), folder = coalesce(?4, folder)
             WHERE account = ?1 AND feed = ?2",
            params![account.id, feed, title.map(cut), folder.map(cut)],
        )?;
        Ok(changed > 0)
    }

    /// Takes a subscription out of a folder, if it is in that one.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub(crate) fn leave_folder(
        &mut self,
        account: &Account,
        feed: i64,
        folder: &str,
    ) -> Result<(), FeedError> {
        self.connection.execute(
            "UPDATE subscriptions SET folder = '' WHERE account = ?1 AND feed = ?2 AND folder = ?3",
            params![account.id, feed, folder],
        )?;
        Ok(())
    }

    /// Has a feed of the account polled soon, although it failed or is gone. Not more than once a minute.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub(crate) fn retry(&mut self, account: &Account, feed: i64, now_ms: i64) -> Result<(), FeedError> {
        self.connection.execute(
            "UPDATE feeds SET next_ms = ?3, is_gone = 0
             WHERE id = ?2 AND failing_since_ms IS NOT NULL AND coalesce(polled_ms, 0) <= ?3 - ?4
             AND EXISTS (SELECT 1 FROM subscriptions WHERE account = ?1 AND feed = ?2)",
            params![account.id, feed, now_ms, MIN_RETRY_MS],
        )?;
        Ok(())
    }

    /// Has the account's feeds polled soon: one, those of a folder, or all. Not more than once a minute, and not those that fail or are gone.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub(crate) fn refresh(
        &mut self,
        account: &Account,
        feed: Option<i64>,
        folder: Option<&str>,
        now_ms: i64,
    ) -> Result<(), FeedError> {
        self.connection.execute(
            "UPDATE feeds SET next_ms = ?4
             WHERE failing_since_ms IS NULL AND is_gone = 0 AND next_ms > ?4 AND coalesce(polled_ms, 0) <= ?4 - ?5
             AND EXISTS (SELECT 1 FROM subscriptions WHERE account = ?1 AND feed = feeds.id
                         AND (?2 IS NULL OR feed = ?2) AND (?3 IS NULL OR folder = ?3))",
            params![account.id, feed, folder, now_ms, MIN_RETRY_MS],
        )?;
        Ok(())
    }

    /// Renames a folder; with an empty name its feeds have none.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub(crate) fn rename_folder(&mut self, account: &Account, from: &str, to: &str) -> Result<(), FeedError> {
        self.connection.execute(
            "UPDATE subscriptions SET folder = ?3 WHERE account = ?1 AND folder = ?2",
            params![account.id, from, cut(to)],
        )?;
        Ok(())
    }

    /// The subscriptions of an account, by folder and title.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn subscriptions(&self, account: &Account) -> Result<Vec<Subscription>, FeedError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT feeds.id, feeds.url, subscriptions.title, feeds.title, feeds.site, subscriptions.folder,
                    (SELECT count(*) FROM entries WHERE entries.feed = feeds.id AND listed_ms >= listed_since_ms
                     AND NOT EXISTS (SELECT 1 FROM marks WHERE marks.account = ?1 AND marks.entry = entries.id AND is_read = 1)),
                    max(feeds.fetched_ms, subscriptions.created_ms), max(feeds.failing_since_ms, subscriptions.created_ms), feeds.error, feeds.is_gone, feeds.next_ms,
                    (SELECT max(sort_ms) FROM entries WHERE entries.feed = feeds.id AND listed_ms >= listed_since_ms),
                    (SELECT max(received_ms, subscriptions.created_ms) FROM entries WHERE id =
                     (SELECT max(id) FROM entries WHERE entries.feed = feeds.id AND listed_ms >= listed_since_ms))
             FROM subscriptions JOIN feeds ON feeds.id = subscriptions.feed WHERE subscriptions.account = ?1",
        )?;
        let rows = statement.query_map([account.id], |row| {
            let url: String = row.get(1)?;
            let (own, of_feed): (String, String) = (row.get(2)?, row.get(3)?);
            let is_renamed = !own.is_empty();
            let title = [own, of_feed, shown_url(&url)].into_iter().find(|title| !title.is_empty());
            Ok(Subscription {
                feed: row.get(0)?,
                title: title.unwrap_or_default(),
                is_renamed,
                url,
                site: row.get(4)?,
                folder: row.get(5)?,
                unread: row.get::<_, i64>(6)?.max(0).unsigned_abs(),
                fetched_ms: row.get(7)?,
                failing_since_ms: row.get(8)?,
                error: row.get(9)?,
                is_gone: row.get(10)?,
                next_ms: row.get(11)?,
                newest_ms: row.get(12)?,
                newest_received_ms: row.get(13)?,
            })
        })?;
        let mut all: Vec<Subscription> = rows.collect::<Result<_, _>>()?;
        // Folders that differ in case alone stand beside each other, and are two.
        let key = |one: &Subscription| {
            (one.folder.to_lowercase(), one.folder.clone(), one.title.to_lowercase(), one.feed)
        };
        all.sort_by_cached_key(key);
        Ok(all)
    }

    /// The feed of a subscription, by the feed's address; by its number if that is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn subscribed_feed(&self, account: &Account, url: &str) -> Result<Option<i64>, FeedError> {
        let parsed = parse_url(url).map(String::from).unwrap_or_default();
        let mut statement = self.connection.prepare_cached(
            "SELECT feeds.id FROM feeds JOIN subscriptions ON subscriptions.feed = feeds.id
             WHERE subscriptions.account = ?1 AND (feeds.url IN (?2, ?3) OR feeds.id = ?4)",
        )?;
        let number: Option<i64> = url.parse().ok();
        Ok(statement.query_row(params![account.id, url, parsed, number], |row| row.get(0)).optional()?)
    }

    /// How many entries each account has not read.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn unread_counts(&self) -> Result<Vec<UnreadCount>, FeedError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT accounts.name, (SELECT count(*) FROM subscriptions JOIN entries ON entries.feed = subscriptions.feed
                WHERE subscriptions.account = accounts.id AND listed_ms >= listed_since_ms AND NOT EXISTS
                (SELECT 1 FROM marks WHERE marks.account = accounts.id AND marks.entry = entries.id AND is_read = 1))
             FROM accounts ORDER BY accounts.name",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(UnreadCount { account: row.get(0)?, unread: row.get::<_, i64>(1)?.max(0).unsigned_abs() })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Subscribes within a transaction.
fn subscribe(
    transaction: &Transaction<'_>,
    account: &Account,
    outline: &Outline,
    now_ms: i64,
) -> Result<i64, FeedError> {
    let url = parse_url(&outline.url).map_err(FeedError::Refused)?;
    let is_full: bool = transaction
        .prepare_cached(
            "SELECT (SELECT count(*) FROM subscriptions WHERE account = ?1) >= ?2 AND NOT EXISTS
                    (SELECT 1 FROM subscriptions JOIN feeds ON feeds.id = feed WHERE account = ?1 AND url = ?3)",
        )?
        .query_row(params![account.id, MAX_SUBSCRIPTIONS, url.as_str()], |row| row.get(0))?;
    if is_full {
        return Err(FeedError::refused(format!("an account has at most {MAX_SUBSCRIPTIONS} feeds")));
    }
    // One that is gone or fails may have come back, or another user knows better.
    transaction
        .prepare_cached(
            "INSERT INTO feeds (url, next_ms) VALUES (?1, ?2) ON CONFLICT (url) DO UPDATE SET
                 next_ms = CASE WHEN failing_since_ms IS NULL OR polled_ms > ?2 - ?3 THEN next_ms ELSE ?2 END, is_gone = 0",
        )?
        .execute(params![url.as_str(), now_ms, MIN_RETRY_MS])?;
    // A new subscriber sees what the feed lists now, and not what it has listed before.
    let (feed, listed_since_ms): (i64, i64) = transaction
        .prepare_cached("SELECT id, coalesce(document_ms, 0) FROM feeds WHERE url = ?1")?
        .query_row([url.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    transaction
        .prepare_cached(
            "INSERT INTO subscriptions (account, feed, title, folder, listed_since_ms, created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET title = CASE WHEN ?3 = '' THEN title ELSE ?3 END,
                                       folder = CASE WHEN ?4 = '' THEN folder ELSE ?4 END",
        )?
        .execute(params![account.id, feed, cut(&outline.title), cut(&outline.folder), listed_since_ms, now_ms])?;
    Ok(feed)
}

/// An address without its password.
pub(crate) fn shown_url(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut url) => {
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.into()
        }
        Err(_) => url.to_owned(),
    }
}

/// A name in one line.
fn cut(name: &str) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned()
}
