//! A stream as Atom with the labels of the Google Reader API: what newsboat reads.

use std::fmt::Write as _;

use jiff::Timestamp;
use syndication::{Images, clean, escaped};

use super::streams::{ITEM, READ, STARRED, feed_stream};
use crate::entries::FeedEntry;

/// How programs know labels that are no categories of the feed itself.
const SCHEME: &str = "http://www.google.com/reader/";

/// Writes entries with their contents.
pub(super) fn write(stream: &str, title: &str, entries: &[FeedEntry], now_ms: i64) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <id>tag:google.com,2005:reader/{}</id>\n<title>{}</title>\n<updated>{}</updated>\n",
        escaped(stream),
        escaped(title),
        time(now_ms)
    );
    for entry in entries {
        let at = time(entry.published_ms.unwrap_or(entry.sort_ms));
        let _ = write!(
            out,
            "<entry>\n<id>{ITEM}{:016x}</id>\n<title>{}</title>\n<published>{at}</published>\n<updated>{at}</updated>\n",
            entry.id,
            escaped(&entry.title)
        );
        if !entry.link.is_empty() {
            let _ = writeln!(
                out,
                "<link rel=\"alternate\" href=\"{}\" type=\"text/html\"/>",
                escaped(&entry.link)
            );
        }
        let _ = writeln!(out, "<author><name>{}</name></author>", escaped(&entry.author));
        let read = if entry.is_read { (READ, "read") } else { ("user/-/state/com.google/fresh", "fresh") };
        let starred = entry.is_starred.then_some((STARRED, "starred"));
        for (term, label) in [read].into_iter().chain(starred) {
            let _ = writeln!(out, "<category term=\"{term}\" scheme=\"{SCHEME}\" label=\"{label}\"/>");
        }
        let content = clean(&entry.content, "", Images::Shown);
        let _ = write!(
            out,
            "<source><id>{}</id><title>{}</title></source>\n<content type=\"html\">{}</content>\n</entry>\n",
            feed_stream(entry.feed),
            escaped(&entry.feed_title),
            escaped(&content)
        );
    }
    out.push_str("</feed>\n");
    out
}

/// As in RFC 3339; a time that has no such form is the beginning of 1970.
fn time(at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
