//! A document as a feed: RSS 0.9x to 2.0, RDF, Atom and JSON Feed, by feed-rs; what is malformed is repaired first.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use blake2::{Blake2s256, Digest as _};
use feed_rs::model::{Entry, Feed, FeedType, Link, Text};
use serde::{Deserialize, Serialize};

use crate::authors::authors_of;
use crate::encoding::decode;
use crate::entry_content::{content_of, media_of};
use crate::entry_text::{plain_text, title_text};
use crate::normal_form::{
    absolute_bases, is_html, normal_xml, update_period, with_known_namespaces, with_own_links,
};
use crate::normal_json::normal_json;
use crate::repair::{has_markup_in_text, repair};
use crate::stray_brackets::escape_stray_brackets;
use crate::web_address::page_address;

/// Entries of a document; others are left out.
const MAX_ENTRIES: usize = 5000;
const MAX_TITLE_BYTES: usize = 2000;

/// A feed as its document has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParsedFeed {
    /// Its title, as plain text; empty: none.
    pub title: String,
    /// The address of its site; empty: none.
    pub site: String,
    /// How long its publisher wants it to be kept: `ttl`, `sy:updatePeriod`.
    pub hint: Option<Duration>,
    /// In the document's order.
    pub entries: Vec<ParsedEntry>,
}

/// An entry as its document has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParsedEntry {
    /// A text that no other entry of the feed has.
    pub identity: String,
    /// The address of its page; empty: none.
    pub link: String,
    /// As plain text; empty: none.
    pub title: String,
    /// Its authors; empty: none.
    pub author: String,
    /// In milliseconds since 1970.
    pub published_ms: Option<i64>,
    /// As HTML.
    pub content: String,
    /// The address that relative addresses of the content are relative to; empty: the link.
    pub base: String,
}

/// Why a document is not a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MalformedFeed(String);

impl fmt::Display for MalformedFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MalformedFeed {}

/// Parses a document that came from an address.
///
/// # Errors
/// If it is not a feed.
pub(crate) fn parse(document: &[u8], content_type: &str, address: &str) -> Result<ParsedFeed, MalformedFeed> {
    let text = decode(document, content_type);
    let text = text
        .trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}' || letter < ' ');
    if text.starts_with('{') {
        let normal = normal_json(text, address)
            .map_err(|error| MalformedFeed(format!("it is malformed JSON: {error}")))?;
        let feed =
            parser(address).parse(normal.as_bytes()).map_err(|error| MalformedFeed(error.to_string()))?;
        return Ok(parsed(feed, None, address));
    }
    let hint = update_period(text);
    let text = &escape_stray_brackets(text);
    let mut normal = normal_xml(text);
    if has_markup_in_text(&normal) {
        normal = normal_xml(&repair(text));
    }
    let normal = absolute_bases(with_own_links(with_known_namespaces(normal)), address);
    let feed = parser(address).parse(normal.as_bytes()).or_else(|error| {
        // The error of the document, not that of its repair.
        parser(address).parse(normal_xml(&repair(text)).as_bytes()).map_err(|_| match is_html(text) {
            true => MalformedFeed("it is a page and no feed".to_owned()),
            false => MalformedFeed(error.to_string()),
        })
    })?;
    Ok(parsed(feed, hint, address))
}

/// A parser for one document: after an error it must not be used again.
fn parser(address: &str) -> feed_rs::parser::Parser {
    feed_rs::parser::Builder::new()
        .base_uri(Some(address))
        .id_generator(|links, title, _| generated_identity(links, title.as_ref()))
        .timestamp_parser(crate::dates::parse_chrono)
        .build()
}

/// The identity of an entry that has none: its link, its title, and otherwise its content.
fn generated_identity(links: &[Link], title: Option<&Text>) -> String {
    match (links.first(), title) {
        (Some(link), _) => link.href.clone(),
        (None, Some(title)) => format!("title:{}", title.content),
        (None, None) => String::new(),
    }
}

fn parsed(feed: Feed, hint: Option<Duration>, address: &str) -> ParsedFeed {
    let ttl =
        feed.ttl.filter(|minutes| *minutes > 0).map(|minutes| Duration::from_secs(u64::from(minutes) * 60));
    let site = page_link(&feed.links).filter(|site| site != address).unwrap_or_default();
    // RFC 4287, 4.2.1, and JSON Feed: those of the feed are those of an entry that has none.
    let inherits_authors = matches!(feed.feed_type, FeedType::Atom | FeedType::JSON);
    let authors = if inherits_authors { authors_of(&feed.authors) } else { String::new() };
    let entries = newest(feed.entries).into_iter().map(|entry| parsed_entry(entry, &authors));
    let entries = with_own_identities(
        entries
            .filter(|entry| !(entry.title.is_empty() && entry.content.is_empty() && entry.link.is_empty())),
    );
    ParsedFeed {
        title: feed.title.map(|title| title_of(&title)).unwrap_or_default(),
        site,
        hint: ttl.max(hint),
        entries,
    }
}

/// As many as are taken of one document: the newest by their dates, wherever they stand in it; those without a date come last, and the first
/// of these before the others.
fn newest(mut entries: Vec<Entry>) -> Vec<Entry> {
    if entries.len() > MAX_ENTRIES {
        let date = |entry: &Entry| entry.published.or(entry.updated);
        let mut places: Vec<usize> = (0..entries.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(date(&entries[*place])));
        let taken: HashSet<usize> = places.into_iter().take(MAX_ENTRIES).collect();
        let mut place = 0..;
        entries.retain(|_| place.next().is_some_and(|place| taken.contains(&place)));
    }
    entries
}

/// Two entries of one document are two, whatever they are called; the same one twice is one. All that share an identity get another one,
/// by what they say: their order must not decide which of them is the one that was known.
fn with_own_identities(entries: impl Iterator<Item = ParsedEntry>) -> Vec<ParsedEntry> {
    let mut digests: HashMap<String, HashSet<String>> = HashMap::new();
    let mut different = Vec::new();
    for entry in entries {
        let digest = content_digest(&entry);
        if digests.entry(entry.identity.clone()).or_default().insert(digest.clone()) {
            different.push((entry, digest));
        }
    }
    let own = |(mut entry, digest): (ParsedEntry, String)| {
        if digests[&entry.identity].len() > 1 {
            entry.identity = format!("{} {digest}", entry.identity);
        }
        entry
    };
    different.into_iter().map(own).collect()
}

fn parsed_entry(entry: Entry, authors_of_feed: &str) -> ParsedEntry {
    let date = entry.published.or(entry.updated);
    let mut link = page_link(&entry.links).unwrap_or_default();
    if link.is_empty() && entry.id.starts_with("http") {
        link = page_address(&entry.id).unwrap_or_default();
    }
    let mut content = content_of(&entry);
    content.push_str(&media_of(&entry));
    let authors = Some(authors_of(&entry.authors)).filter(|authors| !authors.is_empty());
    let authors = authors.unwrap_or_else(|| authors_of_feed.to_owned());
    let mut parsed = ParsedEntry {
        identity: entry.id.trim().to_owned(),
        link,
        title: entry.title.as_ref().map(title_of).unwrap_or_default(),
        author: cut(authors, MAX_TITLE_BYTES),
        published_ms: date.map(|date| date.timestamp_millis()),
        content,
        base: entry.base.unwrap_or_default(),
    };
    if parsed.identity.is_empty() {
        parsed.identity = format!("content:{}", content_digest(&parsed));
    }
    parsed.identity = cut(parsed.identity, MAX_TITLE_BYTES);
    parsed
}

fn content_digest(entry: &ParsedEntry) -> String {
    let digest = Blake2s256::new()
        .chain_update(&entry.link)
        .chain_update([0])
        .chain_update(&entry.title)
        .chain_update([0])
        .chain_update(&entry.content)
        .finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The page that a feed or an entry is about.
fn page_link(links: &[Link]) -> Option<String> {
    let is_page = |link: &&Link| link.rel.as_deref().is_none_or(|rel| rel == "alternate");
    let is_html = |link: &&Link| link.media_type.as_deref().is_none_or(|kind| kind.contains("html"));
    let found = links.iter().filter(is_page).find(is_html).or_else(|| links.iter().find(is_page));
    page_address(&found?.href)
}

fn title_of(title: &Text) -> String {
    let text = match title.content_type.subty().as_str() {
        "plain" => title_text(&title.content),
        _ => plain_text(&title.content, usize::MAX),
    };
    cut(text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_TITLE_BYTES)
}

/// A text that is not longer, cut between letters.
pub(crate) fn cut(mut text: String, most_bytes: usize) -> String {
    if text.len() > most_bytes {
        text.truncate(text.floor_char_boundary(most_bytes));
    }
    text
}

#[cfg(test)]
mod tests;
