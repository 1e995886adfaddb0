//! Any bytes as a document that came from an address, and as a list of subscriptions.

use std::time::Duration;

use syndication::{Images, Reading, clean, opml, parse_date, plain_text};

const TYPES: [&str; 4] = ["", "text/html", "application/feed+json", "text/xml; charset=utf-16"];
const ADDRESS: &str = "http://example.org/a/";

/// Nothing panics, whatever the bytes are.
pub fn run(data: &[u8]) {
    let Some((first, document)) = data.split_first() else { return };
    match syndication::read(document, TYPES[usize::from(*first) % TYPES.len()], ADDRESS, || Duration::ZERO) {
        Reading::Feed(feed) => {
            for entry in &feed.entries {
                assert!(!entry.identity.is_empty(), "each entry has an identity");
                // What was sanitised stays so, with its images and without.
                for images in [Images::Hidden, Images::Shown] {
                    let shown = clean(&entry.content, "", images).to_lowercase();
                    assert!(!shown.contains("<script") && !shown.contains("<iframe"), "{shown}");
                }
            }
        }
        Reading::Page(found) => assert!(found.iter().all(|feed| feed.url.starts_with("http"))),
        Reading::Neither(reason) => assert!(!reason.is_empty()),
    }
    if let Ok(text) = std::str::from_utf8(document) {
        parse_date(text);
        plain_text(text, 1000);
    }
    if let Ok(outlines) = opml::read(document) {
        // A list that was read is the same when it is written and read again, trimmed text aside.
        let again = opml::read(opml::write("a", &outlines).as_bytes()).expect("it reads its own lists");
        assert_eq!(again.len(), outlines.len());
    }
}
