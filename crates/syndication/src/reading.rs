//! Reads a document: a feed with sanitised entries, or a page with the feeds that it names.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::clean_html::{Images, clean};
use crate::discovery::{FoundFeed, find_feeds};
use crate::document::{ParsedEntry, ParsedFeed, cut, parse};
use crate::encoding::decode;
use crate::entry_text::{escaped, plain_text};
use crate::normal_form::is_html;

/// The content of an entry is cut after this: sanitising adds attributes.
const MAX_CONTENT_BYTES: usize = 2_000_000;
/// An entry that takes more CPU time to sanitise is shown as plain text: each look at it would take as long.
const MAX_CLEANING: Duration = Duration::from_secs(1);

/// The result of reading a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reading {
    /// A feed. The contents of its entries are sanitised and have no relative addresses.
    Feed(ParsedFeed),
    /// A page, and the feeds that it names.
    Page(Vec<FoundFeed>),
    /// Neither, and why it is not a feed.
    Neither(String),
}

/// Reads a document that came from an address. `cpu_time` returns the CPU time of this thread.
pub fn read(document: &[u8], content_type: &str, address: &str, cpu_time: fn() -> Duration) -> Reading {
    match parse(document, content_type, address) {
        Ok(mut feed) => {
            let site = feed.site.clone();
            for entry in &mut feed.entries {
                sanitise(entry, &site, address, cpu_time);
            }
            Reading::Feed(feed)
        }
        Err(malformed) => {
            let text = decode(document, content_type);
            match is_html(&text) || content_type.trim().starts_with("text/html") {
                true => Reading::Page(find_feeds(&text, address)),
                false => Reading::Neither(malformed.to_string()),
            }
        }
    }
}

/// Sanitises the content of an entry, and does to it what pages and the search will do again: a document whose content ends the process
/// ends the parser's and never that which shows it.
fn sanitise(entry: &mut ParsedEntry, site: &str, address: &str, cpu_time: fn() -> Duration) {
    let before = cpu_time();
    let own = Url::parse(address).ok().and_then(|address| address.join(&entry.base).ok());
    let own = own.filter(|_| !entry.base.is_empty()).map(String::from).unwrap_or_default();
    let base = [own.as_str(), &entry.link, site, address].into_iter().find(|base| !base.is_empty());
    let content = cut(clean(&entry.content, base.unwrap_or_default(), Images::Shown), MAX_CONTENT_BYTES);
    for images in [Images::Hidden, Images::Shown] {
        clean(&content, "", images);
    }
    let text = plain_text(&content, usize::MAX);
    entry.content = match cpu_time().saturating_sub(before) > MAX_CLEANING {
        true => escaped(&text).replace('\n', "<br>"),
        false => content,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sanitised_and_their_addresses_are_whole() {
        let document = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a/b/'><title>t</title><entry><id>1</id>\
            <link href='c'/><content type='html'>&lt;script&gt;x()&lt;/script&gt;&lt;a href='d'&gt;e&lt;/a&gt;</content></entry></feed>";
        let read = |document: &[u8], address: &str| super::read(document, "", address, || Duration::ZERO);
        let Reading::Feed(feed) = read(document.as_bytes(), "http://other/") else { panic!("no feed") };
        let content = &feed.entries[0].content;
        assert!(content.contains("href=\"http://a/b/d\"") && !content.contains("script"), "{content}");
        let page = read(b"<html><link rel=alternate type=application/rss+xml href=f>", "http://a/");
        assert_eq!(
            page,
            Reading::Page(vec![FoundFeed { url: "http://a/f".to_owned(), title: String::new() }])
        );
        assert!(matches!(read(b"\0\xff", "http://a/"), Reading::Neither(_)));
    }
}
