//! Entries as an account sees them: lists, one entry, and what was read or starred.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row, params, params_from_iter};

use crate::accounts::Account;
use crate::database::Library;
use crate::entry_filter::{EntryFilter, conditions, conditions_after};
use crate::error::FeedError;
use crate::subscriptions::shown_url;

/// Entries of a page, at most.
pub(crate) const MOST_LISTED: usize = 1000;

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
    /// What its feed says, in milliseconds since 1970.
    pub published_ms: Option<i64>,
    /// When it was first seen, in milliseconds since 1970.
    pub received_ms: i64,
    /// The time by which it is sorted: published, but not later than received.
    pub sort_ms: i64,
    /// HTML, sanitised when it came; empty in lists.
    pub content: String,
    /// Whether the account has read it.
    pub is_read: bool,
    /// Whether the account has starred it.
    pub is_starred: bool,
}

/// What is changed of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is read, or not.
    Read(bool),
    /// It is starred, or not.
    Starred(bool),
}

/// The columns of [`FeedEntry`], whose account is ?1. Entries of feeds that the account does not read any more are there if they are
/// starred.
const COLUMNS: &str = "entries.id, entries.feed, coalesce(nullif(subscriptions.title, ''), feeds.title), feeds.url, feeds.site,
    coalesce(subscriptions.folder, ''), entries.link, entries.title, entries.author, entries.published_ms, entries.received_ms,
    entries.sort_ms, coalesce(marks.is_read, 0), coalesce(marks.is_starred, 0)";
const VISIBLE: &str = "FROM entries JOIN feeds ON feeds.id = entries.feed
    LEFT JOIN subscriptions ON subscriptions.account = ?1 AND subscriptions.feed = entries.feed
    LEFT JOIN marks ON marks.account = ?1 AND marks.entry = entries.id
    WHERE (subscriptions.feed IS NOT NULL OR marks.is_starred = 1)";

impl Library {
    /// Lists entries, the newest first unless the filter says otherwise.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn entries(&self, account: &Account, filter: &EntryFilter) -> Result<Vec<FeedEntry>, FeedError> {
        let Some((conditions, mut values)) = conditions(account, filter) else { return Ok(Vec::new()) };
        let order = if filter.is_oldest_first { "ASC" } else { "DESC" };
        let limit = if filter.limit == 0 { MOST_LISTED } else { filter.limit.min(MOST_LISTED) };
        values.push(Value::Integer(limit as i64));
        let statement = format!(
            "SELECT {COLUMNS}, '' {VISIBLE} {conditions} ORDER BY entries.sort_ms {order}, entries.id {order} LIMIT ?{}",
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
            self.connection.prepare_cached(&format!("SELECT count(*) {VISIBLE} {conditions}"))?;
        let count: i64 = statement.query_row(params_from_iter(values), |row| row.get(0))?;
        Ok(count.max(0).unsigned_abs())
    }

    /// An entry with its content; `None` if the account has none with this number.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn entry(&self, account: &Account, id: i64) -> Result<Option<FeedEntry>, FeedError> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {COLUMNS}, entries.content {VISIBLE} AND entries.id = ?2"))?;
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
                transaction.prepare_cached(statement_of(mark, "AND entries.id = ?4").as_str())?;
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
        let statement = statement_of(Mark::Read(true), &conditions);
        Ok(self.connection.execute(&statement, params_from_iter(values))? as u64)
    }
}

/// The statement that sets a mark (?2, at ?3) of the entries that `conditions` select.
fn statement_of(mark: Mark, conditions: &str) -> String {
    let column = match mark {
        Mark::Read(_) => "is_read",
        Mark::Starred(_) => "is_starred",
    };
    format!(
        "INSERT INTO marks (account, entry, {column}, changed_ms) SELECT ?1, entries.id, ?2, ?3 {VISIBLE} {conditions}
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
        published_ms: row.get(9)?,
        received_ms: row.get(10)?,
        sort_ms: row.get(11)?,
        is_read: row.get(12)?,
        is_starred: row.get(13)?,
        content: row.get(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed_rows::Polled;
    use syndication::{ParsedEntry, ParsedFeed};

    fn parsed(entries: &[(&str, &str, i64)]) -> ParsedFeed {
        let entry = |(identity, title, published_ms): &(&str, &str, i64)| ParsedEntry {
            identity: (*identity).to_owned(),
            title: (*title).to_owned(),
            link: format!("https://example.org/{identity}"),
            published_ms: Some(*published_ms),
            content: format!("<p>the body of {title}</p>"),
            ..ParsedEntry::default()
        };
        ParsedFeed { entries: entries.iter().map(entry).collect(), ..ParsedFeed::default() }
    }

    struct World {
        library: Library,
        ann: Account,
        bob: Account,
        feed: i64,
    }

    impl World {
        fn new() -> Self {
            let mut library = Library::in_memory();
            let ann = library.add_account("ann", "correct horse", 0).unwrap();
            let bob = library.add_account("bob", "battery staple", 0).unwrap();
            let feed = library.subscribe(&ann, "https://example.org/feed", "", "news", 0).unwrap();
            let mut world = Self { library, ann, bob, feed };
            world.poll(&[("c", "Third", 300), ("b", "Second", 200), ("a", "First", 100)], 1000);
            world
        }

        fn poll(&mut self, entries: &[(&str, &str, i64)], now_ms: i64) -> u64 {
            let feed = parsed(entries);
            self.library.apply(self.feed, &Polled { feed: Some(&feed), moved_to: None }, now_ms).unwrap()
        }

        fn titles(&self, account: &Account, filter: &EntryFilter) -> Vec<String> {
            self.library.entries(account, filter).unwrap().into_iter().map(|entry| entry.title).collect()
        }
    }

    #[test]
    fn an_account_sees_its_own_alone() {
        let mut world = World::new();
        let all = EntryFilter::default();
        assert_eq!(world.titles(&world.ann, &all), ["Third", "Second", "First"]);
        assert!(world.titles(&world.bob, &all).is_empty());
        let id = world.library.entries(&world.ann, &all).unwrap()[0].id;
        assert!(world.library.entry(&world.bob, id).unwrap().is_none());
        let (ann, bob) = (world.ann.clone(), world.bob.clone());
        assert_eq!(world.library.mark(&bob, &[id], Mark::Starred(true), 0).unwrap(), 0);
        assert_eq!(world.library.mark(&ann, &[id, 99], Mark::Starred(true), 0).unwrap(), 1);
        assert_eq!(world.library.mark_all_read(&bob, &all, 0).unwrap(), 0);
        assert!(world.library.entry(&world.bob, id).unwrap().is_none());
        assert!(!world.library.unsubscribe(&bob, world.feed).unwrap());
    }

    #[test]
    fn filters_select() {
        let mut world = World::new();
        let ann = world.ann.clone();
        let id = world.library.entries(&ann, &EntryFilter::default()).unwrap()[1].id;
        world.library.mark(&ann, &[id], Mark::Read(true), 0).unwrap();
        world.library.mark(&ann, &[id], Mark::Starred(true), 0).unwrap();
        let unread = EntryFilter { is_unread: true, ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &unread), ["Third", "First"]);
        let starred = EntryFilter { is_starred: true, ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &starred), ["Second"]);
        let search = |text: &str| EntryFilter { search: text.to_owned(), ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &search("bod thi")), ["Third"]);
        assert_eq!(world.titles(&ann, &search("body -third")), ["Second", "First"]);
        assert!(world.titles(&ann, &search("\"")).is_empty());
        let folder = |name: &str| EntryFilter { folder: Some(name.to_owned()), ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &folder("news")).len(), 3);
        assert!(world.titles(&ann, &folder("other")).is_empty());
        let page = EntryFilter { after: Some((200, id)), ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &page), ["First"]);
        let oldest = EntryFilter { is_oldest_first: true, limit: 2, ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &oldest), ["First", "Second"]);
        assert_eq!(world.library.count_entries(&ann, &unread).unwrap(), 2);
        let old = EntryFilter { before_ms: Some(200), ..EntryFilter::default() };
        assert_eq!(world.library.mark_all_read(&ann, &old, 0).unwrap(), 1);
        assert_eq!(world.library.unread_counts().unwrap()[0].unread, 1);
    }

    #[test]
    fn an_entry_that_was_rewritten_is_the_same() {
        let mut world = World::new();
        let ann = world.ann.clone();
        let all: Vec<i64> = world
            .library
            .entries(&ann, &EntryFilter::default())
            .unwrap()
            .iter()
            .map(|entry| entry.id)
            .collect();
        world.library.mark(&ann, &all, Mark::Read(true), 0).unwrap();
        assert_eq!(
            world.poll(&[("c", "Third, corrected", 5000), ("b", "Second", 200), ("a", "First", 100)], 2000),
            0
        );
        assert_eq!(world.titles(&ann, &EntryFilter::default()), ["Third, corrected", "Second", "First"]);
        assert_eq!(world.library.unread_counts().unwrap()[0].unread, 0);
        let search = EntryFilter { search: "corrected".to_owned(), ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &search).len(), 1);
        // Other identities, the same links.
        let mut moved = parsed(&[("c", "Third, corrected", 5000), ("b", "Second", 200)]);
        for entry in &mut moved.entries {
            entry.identity.push_str("-new");
        }
        let polled = Polled { feed: Some(&moved), moved_to: None };
        assert_eq!(world.library.apply(world.feed, &polled, 3000).unwrap(), 0);
        assert_eq!(world.library.unread_counts().unwrap()[0].unread, 0);
    }

    #[test]
    fn old_entries_go_and_starred_ones_stay() {
        let mut world = World::new();
        let ann = world.ann.clone();
        let keep = std::time::Duration::from_secs(1);
        world.poll(&[("c", "Third", 300)], 2000);
        assert_eq!(world.library.forget_old(keep, 1500).unwrap(), 0);
        let first = world.library.entries(&ann, &EntryFilter::default()).unwrap()[2].id;
        world.library.mark(&ann, &[first], Mark::Starred(true), 0).unwrap();
        assert_eq!(world.library.forget_old(keep, 5000).unwrap(), 1);
        assert_eq!(world.titles(&ann, &EntryFilter::default()), ["Third", "First"]);
        assert!(world.library.unsubscribe(&ann, world.feed).unwrap());
        assert_eq!(world.titles(&ann, &EntryFilter::default()), ["First"]);
        world.library.mark(&ann, &[first], Mark::Starred(false), 0).unwrap();
        world.library.forget_old(keep, 5000).unwrap();
        let left: i64 =
            world.library.connection.query_row("SELECT count(*) FROM feeds", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_feed_that_moved_takes_marks_along() {
        let mut world = World::new();
        let (ann, bob) = (world.ann.clone(), world.bob.clone());
        let other = world.library.subscribe(&bob, "https://example.org/new", "", "", 0).unwrap();
        let feed = parsed(&[("c", "Third", 300), ("b", "Second", 200)]);
        world.library.apply(other, &Polled { feed: Some(&feed), moved_to: None }, 1000).unwrap();
        let ids: Vec<i64> = world
            .library
            .entries(&ann, &EntryFilter::default())
            .unwrap()
            .iter()
            .map(|entry| entry.id)
            .collect();
        world.library.mark(&ann, &ids, Mark::Read(true), 0).unwrap();
        world.library.mark(&ann, &ids[..1], Mark::Starred(true), 0).unwrap();
        let polled = Polled { feed: None, moved_to: Some("https://example.org/new") };
        world.library.apply(world.feed, &polled, 2000).unwrap();
        assert_eq!(world.library.subscriptions(&ann).unwrap()[0].url, "https://example.org/new");
        assert_eq!(world.titles(&ann, &EntryFilter::default()), ["Third", "Second", "First"]);
        assert_eq!(world.library.unread_counts().unwrap()[0].unread, 0);
        let starred = EntryFilter { is_starred: true, ..EntryFilter::default() };
        assert_eq!(world.titles(&ann, &starred), ["Third"]);
    }
}
