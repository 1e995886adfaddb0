//! Entries as an account sees them: lists, one entry, and what was read or starred.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row, params, params_from_iter};

use crate::accounts::Account;
use crate::database::Library;
use crate::entry_filter::{EntryFilter, RECEIVED_MS, conditions, conditions_after};
use crate::error::FeedError;
use crate::subscriptions::shown_url;

/// Entries of a page, at most.
pub const MAX_LISTED: usize = 1000;

/// An entry as an account sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEntry {
    /// Its number, which never changes.
    pub id: i64,
    /// The feed's number.
    pub feed: i64,
    /// The feed's title.
    pub feed_title: String,
    /// The feed's address.
    pub feed_url: String,
    /// The page of the feed; empty: unknown.
    pub site: String,
    /// The folder of its feed; empty: none.
    pub folder: String,
    /// The address of its page; empty: none.
    pub link: String,
    /// Plain text; empty: none.
    pub title: String,
    /// Plain text; empty: none.
    pub author: String,
    /// The time that its feed says, in milliseconds since 1970.
    pub published_ms: Option<i64>,
    /// When the account got it, in milliseconds since 1970: when it was first seen, or when the account subscribed to its feed.
    pub received_ms: i64,
    /// The time by which it is sorted: published, but not later than received.
    pub sort_ms: i64,
    /// HTML, sanitised when it came; in lists empty or, if the filter asks for it, its beginning, which may end within an element.
    pub content: String,
    /// The account has read it.
    pub is_read: bool,
    /// The account has starred it.
    pub is_starred: bool,
}

/// A change to the state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is read, or not.
    Read(bool),
    /// It is starred, or not.
    Starred(bool),
}

/// The columns of [`FeedEntry`] but its content and [`RECEIVED_MS`], whose account is ?1.
const COLUMNS: &str =
    "entries.id, entries.feed, coalesce(nullif(subscriptions.title, ''), feeds.title), feeds.url, feeds.site,
    coalesce(subscriptions.folder, ''), entries.link, entries.title, entries.author, entries.published_ms,
    entries.sort_ms, coalesce(marks.is_read, 0), coalesce(marks.is_starred, 0)";
/// The entries that an account sees: those that its feeds have listed since it subscribed, and those that it has starred.
const VISIBLE: &str = "FROM entries JOIN feeds ON feeds.id = entries.feed
    LEFT JOIN subscriptions ON subscriptions.account = ?1 AND subscriptions.feed = entries.feed
        AND entries.listed_ms >= subscriptions.listed_since_ms
    LEFT JOIN marks ON marks.account = ?1 AND marks.entry = entries.id
    WHERE (subscriptions.feed IS NOT NULL OR marks.is_starred = 1)";
/// The entries of [`VISIBLE`] without starred entries of feeds that the account does not read any more: its feeds come first, so that
/// others' are not looked at.
const OF_SUBSCRIPTIONS: &str = "FROM subscriptions CROSS JOIN entries ON entries.feed = subscriptions.feed
        AND entries.listed_ms >= subscriptions.listed_since_ms
    JOIN feeds ON feeds.id = entries.feed
    LEFT JOIN marks ON marks.account = ?1 AND marks.entry = entries.id
    WHERE subscriptions.account = ?1";

/// The beginning of a content, for lists: more than is shown of it, since much of it is markup.
const BEGINNING: &str = "substr(entries.content, 1, 2000)";

/// Where a filter looks.
fn source_of(filter: &EntryFilter) -> &'static str {
    let is_search = !filter.search.trim().is_empty();
    let is_subscribed =
        filter.is_unread || filter.folder.is_some() || (filter.feed.is_some() && !filter.is_starred);
    if is_subscribed && !is_search { OF_SUBSCRIPTIONS } else { VISIBLE }
}

impl Library {
    /// Lists entries, the newest first unless the filter says otherwise.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn entries(&self, account: &Account, filter: &EntryFilter) -> Result<Vec<FeedEntry>, FeedError> {
        let Some((conditions, mut values)) = conditions(account, filter) else { return Ok(Vec::new()) };
        let order = if filter.is_oldest_first { "ASC" } else { "DESC" };
        let limit = if filter.limit == 0 { MAX_LISTED } else { filter.limit.min(MAX_LISTED) };
        values.push(Value::Integer(limit as i64));
        let content = if filter.has_beginnings { BEGINNING } else { "''" };
        let statement = format!(
            "SELECT {COLUMNS}, {RECEIVED_MS}, {content} {} {conditions} ORDER BY entries.sort_ms {order}, entries.id {order} LIMIT ?{}",
            source_of(filter),
            values.len()
        );
        let mut statement = self.connection.prepare_cached(&statement)?;
        let rows = statement.query_map(params_from_iter(values), entry_of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many entries a filter selects.
    ///
    /// # Errors
    /// If they cannot be counted.
    pub(crate) fn count_entries(&self, account: &Account, filter: &EntryFilter) -> Result<u64, FeedError> {
        let Some((conditions, values)) = conditions(account, filter) else { return Ok(0) };
        let mut statement =
            self.connection.prepare_cached(&format!("SELECT count(*) {} {conditions}", source_of(filter)))?;
        let count: i64 = statement.query_row(params_from_iter(values), |row| row.get(0))?;
        Ok(count.max(0).unsigned_abs())
    }

    /// An entry with its content; `None` if the account has none with this number.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn entry(&self, account: &Account, id: i64) -> Result<Option<FeedEntry>, FeedError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}, {RECEIVED_MS}, entries.content {VISIBLE} AND entries.id = ?2"
        ))?;
        Ok(statement.query_row([account.id, id], entry_of).optional()?)
    }

    /// Marks entries of the account, all of them or none; others are ignored. Returns how many it has.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub fn mark(
        &mut self,
        account: &Account,
        entries: &[i64],
        mark: Mark,
        now_ms: i64,
    ) -> Result<u64, FeedError> {
        let transaction = self.connection.transaction()?;
        let mut marked = 0;
        {
            let mut statement =
                transaction.prepare_cached(statement_of(mark, VISIBLE, "AND entries.id = ?4").as_str())?;
            for entry in entries {
                marked += statement.execute(params![account.id, value_of(mark), now_ms, entry])? as u64;
            }
        }
        transaction.commit()?;
        Ok(marked)
    }

    /// Marks all entries that a filter selects as read. Returns how many were unread.
    ///
    /// # Errors
    /// If the library cannot be written.
    pub fn mark_all_read(
        &mut self,
        account: &Account,
        filter: &EntryFilter,
        now_ms: i64,
    ) -> Result<u64, FeedError> {
        let filter = EntryFilter { is_unread: true, after: None, ..filter.clone() };
        // Values 2 and 3 are those of the mark.
        let Some((conditions, values)) =
            conditions_after(account, &filter, &[Value::Integer(1), Value::Integer(now_ms)])
        else {
            return Ok(0);
        };
        let statement = statement_of(Mark::Read(true), source_of(&filter), &conditions);
        Ok(self.connection.execute(&statement, params_from_iter(values))? as u64)
    }
}

/// The statement that sets a mark (?2, at ?3) of the entries that `conditions` select of a source.
fn statement_of(mark: Mark, source: &str, conditions: &str) -> String {
    let column = match mark {
        Mark::Read(_) => "is_read",
        Mark::Starred(_) => "is_starred",
    };
    format!(
        "INSERT INTO marks (account, entry, {column}, changed_ms) SELECT ?1, entries.id, ?2, ?3 {source} {conditions}
         ON CONFLICT (account, entry) DO UPDATE SET {column} = excluded.{column}, changed_ms = excluded.changed_ms"
    )
}

fn value_of(mark: Mark) -> bool {
    match mark {
        Mark::Read(value) | Mark::Starred(value) => value,
    }
}

fn entry_of(row: &Row<'_>) -> Result<FeedEntry, rusqlite::Error> {
    let feed_url: String = row.get(3)?;
    let mut feed_title: String = row.get(2)?;
    if feed_title.is_empty() {
        feed_title = shown_url(&feed_url);
    }
    Ok(FeedEntry {
        id: row.get(0)?,
        feed: row.get(1)?,
        feed_title,
        feed_url,
        site: row.get(4)?,
        folder: row.get(5)?,
        link: row.get(6)?,
        title: row.get(7)?,
        author: row.get(8)?,
        published_ms: row.get::<_, Option<i64>>(9)?.filter(|published_ms| *published_ms > 0),
        sort_ms: row.get(10)?,
        is_read: row.get(11)?,
        is_starred: row.get(12)?,
        received_ms: row.get(13)?,
        content: row.get(14)?,
    })
}
