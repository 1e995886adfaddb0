//! Names of the Google Reader API, of streams and of entries, and an entry as the API has it.

use serde_json::{Value, json};
use syndication::{Images, clean};

use crate::entries::FeedEntry;

pub(super) const READING_LIST: &str = "user/-/state/com.google/reading-list";
pub(super) const READ: &str = "user/-/state/com.google/read";
pub(super) const KEPT_UNREAD: &str = "user/-/state/com.google/kept-unread";
pub(super) const STARRED: &str = "user/-/state/com.google/starred";
pub(super) const LABEL: &str = "user/-/label/";
pub(super) const ITEM: &str = "tag:google.com,2005:reader/item/";

/// A stream with the user's number or name as `-`.
pub(super) fn normal(stream: &str) -> String {
    match stream.strip_prefix("user/").and_then(|rest| rest.split_once('/')) {
        Some((_, rest)) => format!("user/-/{rest}"),
        None => stream.to_owned(),
    }
}

/// The stream of a feed, by its number: its address changes when it moves.
pub(super) fn feed_stream(feed: i64) -> String {
    format!("feed/{feed}")
}

/// The number of an entry: in decimal, or after `tag:google.com,2005:reader/item/` in hexadecimal.
pub(super) fn entry_id(text: &str) -> Option<i64> {
    match text.strip_prefix(ITEM) {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(u64::cast_signed),
        // Sixteen digits are the short form of the same.
        None if text.len() == 16 && text.starts_with('0') => {
            u64::from_str_radix(text, 16).ok().map(u64::cast_signed)
        }
        None => text.parse().ok(),
    }
}

pub(super) fn item(entry: &FeedEntry) -> Value {
    let mut categories = vec![READING_LIST.to_owned()];
    if entry.is_read {
        categories.push(READ.to_owned());
    }
    if entry.is_starred {
        categories.push(STARRED.to_owned());
    }
    if !entry.folder.is_empty() {
        categories.push(format!("{LABEL}{}", entry.folder));
    }
    let content = clean(&entry.content, "", Images::Shown);
    json!({
        "id": format!("{ITEM}{:016x}", entry.id),
        "crawlTimeMsec": entry.received_ms.to_string(),
        "timestampUsec": (entry.received_ms * 1000).to_string(),
        "published": entry.published_ms.unwrap_or(entry.sort_ms) / 1000,
        "updated": entry.published_ms.unwrap_or(entry.sort_ms) / 1000,
        "title": entry.title,
        "author": entry.author,
        "canonical": [{ "href": entry.link }],
        "alternate": [{ "href": entry.link, "type": "text/html" }],
        "summary": { "direction": "ltr", "content": content },
        "categories": categories,
        "origin": { "streamId": feed_stream(entry.feed), "title": entry.feed_title, "htmlUrl": entry.site },
    })
}
