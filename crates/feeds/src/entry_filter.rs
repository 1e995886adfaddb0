//! Which entries are wanted, and how SQL says it.

use rusqlite::types::Value;

use crate::accounts::Account;
use crate::search::fts_query;

/// Which entries are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Entries of this feed only.
    pub feed: Option<i64>,
    /// Entries of this folder only.
    pub folder: Option<String>,
    /// Entries that were read are left out.
    pub is_unread: bool,
    /// Only entries that were read are wanted.
    pub is_read: bool,
    /// Only starred entries are wanted.
    pub is_starred: bool,
    /// Words that they contain.
    pub search: String,
    /// Received at this time or later, in milliseconds since 1970.
    pub received_since_ms: Option<i64>,
    /// By its own date older than this, in milliseconds since 1970.
    pub before_ms: Option<i64>,
    /// Received before this, in milliseconds since 1970.
    pub received_before_ms: Option<i64>,
    /// Entries after this one, by its time and number, in the order of the list.
    pub after: Option<(i64, i64)>,
    /// The oldest come first.
    pub is_oldest_first: bool,
    /// At most so many; 0 for as many as there can be.
    pub limit: usize,
    /// Entries have the beginning of their content.
    pub has_beginnings: bool,
}

/// When an account received an entry: not before it subscribed to the feed. Otherwise times would tell what others read, and programs that
/// ask for what came since would miss what was there.
pub(crate) const RECEIVED_MS: &str = "max(entries.received_ms, coalesce(subscriptions.created_ms, 0))";

pub(crate) fn conditions(account: &Account, filter: &EntryFilter) -> Option<(String, Vec<Value>)> {
    conditions_after(account, filter, &[])
}

/// The conditions of a filter, and the values of the whole statement: the account's, those in `before`, those of the filter. `None` if
/// nothing can be found.
pub(crate) fn conditions_after(
    account: &Account,
    filter: &EntryFilter,
    before: &[Value],
) -> Option<(String, Vec<Value>)> {
    let mut values = vec![Value::Integer(account.id)];
    values.extend_from_slice(before);
    let mut text = String::new();
    let mut add = |condition: &str, value: Value| {
        values.push(value);
        text.push_str(" AND ");
        text.push_str(&condition.replace('#', &format!("?{}", values.len())));
    };
    if let Some(feed) = filter.feed {
        add("entries.feed = #", Value::Integer(feed));
    }
    if let Some(folder) = &filter.folder {
        add("subscriptions.folder = #", Value::Text(folder.clone()));
    }
    if let Some(before_ms) = filter.before_ms {
        add("entries.sort_ms < #", Value::Integer(before_ms));
    }
    if let Some(since_ms) = filter.received_since_ms {
        add(&format!("{RECEIVED_MS} >= #"), Value::Integer(since_ms));
    }
    if let Some(before_ms) = filter.received_before_ms {
        add(&format!("{RECEIVED_MS} < #"), Value::Integer(before_ms));
    }
    if !filter.search.trim().is_empty() {
        add(
            "entries.id IN (SELECT rowid FROM words WHERE words MATCH #)",
            Value::Text(fts_query(&filter.search)?),
        );
    }
    if let Some((sort_ms, id)) = filter.after {
        let sign = if filter.is_oldest_first { ">" } else { "<" };
        values.extend([Value::Integer(sort_ms), Value::Integer(id)]);
        let (time, number) = (values.len() - 1, values.len());
        text.push_str(&format!(" AND (entries.sort_ms, entries.id) {sign} (?{time}, ?{number})"));
    }
    for (is_wanted, condition) in [
        (filter.is_unread, " AND coalesce(marks.is_read, 0) = 0 AND subscriptions.feed IS NOT NULL"),
        (filter.is_read, " AND marks.is_read = 1"),
        // By its index: few entries are starred.
        (
            filter.is_starred,
            " AND entries.id IN (SELECT entry FROM marks WHERE account = ?1 AND is_starred = 1)",
        ),
    ] {
        text.push_str(if is_wanted { condition } else { "" });
    }
    Some((text, values))
}
