//! Feeds in Atom: RFC 4287.

use std::fmt::Write as _;

/// A feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    /// An IRI that never changes.
    pub id: String,
    /// Its name.
    pub title: String,
    /// When it changed, as in RFC 3339.
    pub updated: String,
    /// The newest first.
    pub entries: Vec<Entry>,
}

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// An IRI that no other entry has.
    pub id: String,
    /// In one line.
    pub title: String,
    /// When, as in RFC 3339.
    pub updated: String,
    /// Plain text.
    pub text: String,
    /// A page about it; empty: none.
    pub link: String,
}

/// Writes a feed.
pub fn write(feed: &Feed, author: &str) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n",
    );
    let element = |out: &mut String, name: &str, text: &str| {
        let _ = writeln!(out, "<{name}>{}</{name}>", escaped(text));
    };
    element(&mut out, "id", &feed.id);
    element(&mut out, "title", &feed.title);
    element(&mut out, "updated", &feed.updated);
    let _ = writeln!(out, "<author><name>{}</name></author>", escaped(author));
    for entry in &feed.entries {
        out.push_str("<entry>\n");
        element(&mut out, "id", &entry.id);
        element(&mut out, "title", &entry.title);
        element(&mut out, "updated", &entry.updated);
        if !entry.link.is_empty() {
            let _ = writeln!(out, "<link href=\"{}\"/>", escaped(&entry.link));
        }
        let _ = writeln!(out, "<content type=\"text\">{}</content>\n</entry>", escaped(&entry.text));
    }
    out.push_str("</feed>\n");
    out
}

/// A text for XML 1.0, which has no control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_be_elements() {
        let entry = Entry {
            id: "urn:a:1".to_owned(),
            title: "</title><script>\u{1}".to_owned(),
            updated: "2026-11-23T00:00:00Z".to_owned(),
            text: "a & b".to_owned(),
            link: "/?a=\"b\"&c".to_owned(),
        };
        let feed = Feed {
            id: "urn:a".to_owned(),
            title: "A".to_owned(),
            updated: entry.updated.clone(),
            entries: vec![entry],
        };
        let text = write(&feed, "whit");
        assert!(text.contains("<title>&lt;/title&gt;&lt;script&gt;\u{fffd}</title>"), "{text}");
        assert!(
            text.contains("<link href=\"/?a=&quot;b&quot;&amp;c\"/>") && text.contains("a &amp; b"),
            "{text}"
        );
    }
}
