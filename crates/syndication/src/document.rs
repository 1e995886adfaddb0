//! A document as a feed: RSS 0.9x to 2.0, RDF, Atom and JSON Feed, by feed-rs; what is malformed is repaired first.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use blake2::{Blake2s256, Digest as _};
use feed_rs::model::{Entry, Feed, Link, Text};
use serde::{Deserialize, Serialize};

use crate::authors::authors_of;
use crate::encoding::decode;
use crate::entry_content::{content_of, media_of};
use crate::entry_text::{plain_text, title_text};
use crate::normal_form::{absolute_bases, is_html, normal_xml, update_period, with_own_links};
use crate::normal_json::normal_json;
use crate::repair::{has_markup_in_text, repair};
use crate::stray_brackets::escape_stray_brackets;
use crate::web_address::parse_url;

/// Entries of a document; others are left out.
const MOST_ENTRIES: usize = 5000;
const MOST_TITLE_BYTES: usize = 2000;

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
    /// What no other entry of the feed has.
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
    /// What relative addresses of the content are relative to; empty: the link.
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
    let normal = absolute_bases(with_own_links(normal), address);
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
    let entries = feed.entries.into_iter().take(MOST_ENTRIES).map(parsed_entry);
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

fn parsed_entry(entry: Entry) -> ParsedEntry {
    let date = entry.published.or(entry.updated);
    let mut link = page_link(&entry.links).unwrap_or_default();
    if link.is_empty() && entry.id.starts_with("http") {
        link = parse_url(&entry.id).map(String::from).unwrap_or_default();
    }
    let mut content = content_of(&entry);
    content.push_str(&media_of(&entry));
    let mut parsed = ParsedEntry {
        identity: entry.id.trim().to_owned(),
        link,
        title: entry.title.as_ref().map(title_of).unwrap_or_default(),
        author: cut(authors_of(&entry), MOST_TITLE_BYTES),
        published_ms: date.map(|date| date.timestamp_millis()),
        content,
        base: entry.base.unwrap_or_default(),
    };
    if parsed.identity.is_empty() {
        parsed.identity = format!("content:{}", content_digest(&parsed));
    }
    parsed.identity = cut(parsed.identity, MOST_TITLE_BYTES);
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
    parse_url(&found?.href).ok().map(String::from)
}

fn title_of(title: &Text) -> String {
    let text = match title.content_type.subty().as_str() {
        "plain" => title_text(&title.content),
        _ => plain_text(&title.content, usize::MAX),
    };
    cut(text.split_whitespace().collect::<Vec<_>>().join(" "), MOST_TITLE_BYTES)
}

/// A text that is not longer, cut between letters.
pub(crate) fn cut(mut text: String, most_bytes: usize) -> String {
    if text.len() > most_bytes {
        text.truncate(text.floor_char_boundary(most_bytes));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(text: &str) -> ParsedFeed {
        parse(text.as_bytes(), "", "https://example.org/feed").unwrap()
    }

    #[test]
    fn old_and_malformed_feeds_are_read() {
        for start in [
            "<rss>",
            "<rss version='0.93'>",
            "<rss version=\"0.91\">",
            "<?xml version='1.0'?>\n<rss version=2.0>",
            "<?xml version='1.0'?>\n<?xml version='1.0' encoding='utf-16'?>\n<rss>",
            "<rss><?xml version='1.0' encoding='utf-16'?>",
            "<rss><\0?xml version='1.0' encoding='utf-16'?>",
        ] {
            let text = format!(
                "{start}<channel><title>A & B</title><item><title>x &nbsp; y</title><guid>1</guid></item></channel></rss>"
            );
            let feed = feed(&text);
            assert_eq!((feed.title.as_str(), feed.entries.len()), ("A & B", 1), "{start}");
            assert_eq!(
                (feed.entries[0].title.as_str(), feed.entries[0].identity.as_str()),
                ("x y", "1"),
                "{start}"
            );
        }
        let rdf = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://my.netscape.com/rdf/simple/0.9/'>\
            <channel><title>t</title><link>http://a/</link><description>d</description></channel>\
            <item><title>one</title><link>http://a/1</link></item></rdf:RDF>";
        assert_eq!(feed(rdf).entries[0].link, "http://a/1");
        let quoted = "<rss><channel><item><description><![CDATA[<pre>&lt;?xml a?> <?xml b?></pre>]]></description></item></channel></rss>";
        assert!(feed(quoted).entries[0].content.contains("<?xml b?>"));
        let json = "{\"items\":[{\"id\":7,\"content_text\":\"a < b\"},{\"id\":8,\"title\":\"t\"}]} trailing";
        let json = feed(json);
        assert_eq!((json.entries[0].identity.as_str(), json.entries[0].content.as_str()), ("7", "a &lt; b"));
        assert_eq!(json.entries.len(), 2);
        assert!(
            parse(b"<html><body>x</body></html>", "", "https://a/").unwrap_err().to_string().contains("page")
        );
        assert!(parse(b"", "", "https://a/").is_err());
    }

    #[test]
    fn a_bracket_that_begins_no_element_is_text() {
        for (title, expected) in [
            ("I <3 you", "I <3 you"),
            ("a <- b", "a <- b"),
            ("x<y", "x<y"),
            ("1 < 2 &amp; 3 > 2", "1 < 2 & 3 > 2"),
            ("a << b", "a << b"),
            ("<", "<"),
            ("<![CDATA[a <3 b]]>", "a <3 b"),
        ] {
            let item = format!(
                "<item><title>{title}</title><link>http://a/1</link><description>{title}</description></item>"
            );
            let rss =
                feed(&format!("<rss version=\"2.0\"><channel><title>t</title>{item}{item}</channel></rss>"));
            assert_eq!(rss.entries[0].title, expected, "{title}");
            assert_eq!(rss.entries[0].link, "http://a/1", "{title}");
            assert_eq!(plain_text(&rss.entries[0].content, 100), expected, "{title}");
        }
    }

    #[test]
    fn an_item_s_only_link_may_be_one_of_atom() {
        let start = "<rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\" \
                     xmlns:a10=\"http://www.w3.org/2005/Atom\"><channel><title>t</title>";
        for (item, link) in [
            ("<title>a</title><atom:link href=\"http://a/1?x=1&amp;y=2\"/>", "http://a/1?x=1&y=2"),
            ("<title>a</title><a10:link rel='alternate' href='http://a/1'/>", "http://a/1"),
            ("<title>a</title><atom:link rel=\"self\" href=\"http://a/self\"/>", ""),
            ("<title>a</title><link>http://a/2</link><atom:link href=\"http://a/1\"/>", "http://a/2"),
        ] {
            let feed = feed(&format!("{start}<item>{item}</item></channel></rss>"));
            assert_eq!(feed.entries[0].link, link, "{item}");
        }
    }

    #[test]
    fn a_relative_base_is_relative_to_that_of_its_parent() {
        for (feed_base, entry_base, content_base, base) in [
            ("", "", " xml:base=\"/blog/\"", "https://example.org/blog/"),
            (" xml:base=\"https://other.example/a/\"", "", " xml:base=\"b/\"", "https://other.example/a/b/"),
            (" xml:base=\"/a/\"", " xml:base='b/'", " xml:base=\"c/\"", "https://example.org/a/b/c/"),
            ("", "", " xml:base=\"https://abs.example/\"", "https://abs.example/"),
        ] {
            let feed = feed(&format!(
                "<feed xmlns=\"http://www.w3.org/2005/Atom\"{feed_base}><entry{entry_base}><id>1</id>\
                 <content type=\"html\"{content_base}>x</content></entry></feed>"
            ));
            assert_eq!(feed.entries[0].base, base);
        }
    }

    #[test]
    fn authors_are_names_where_there_is_one() {
        for (author, name) in [
            ("x@example.org (Bob)", "Bob"),
            ("Bob &lt;x@example.org&gt;", "Bob"),
            ("x@example.org", "x@example.org"),
            ("Bob (the builder)", "Bob (the builder)"),
            ("Bob", "Bob"),
        ] {
            let feed = feed(&format!(
                "<rss version=\"2.0\"><channel><title>t</title><item><title>a</title><author>{author}</author></item></channel></rss>"
            ));
            assert_eq!(feed.entries[0].author, name);
        }
    }

    #[test]
    fn entries_without_identity_have_one_that_stays() {
        let text = "<rss><channel><item><description>only text</description></item><item><title>t</title></item>\
            <item><guid>same</guid><title>one</title></item><item><guid>same</guid><title>two</title></item>\
            <item><guid>same</guid><title>two</title></item></channel></rss>";
        let (first, second) = (feed(text), feed(text));
        assert_eq!(first, second);
        assert_eq!(first.entries.len(), 4);
        let identities: std::collections::HashSet<&str> =
            first.entries.iter().map(|entry| entry.identity.as_str()).collect();
        assert_eq!(identities.len(), 4);
    }

    #[test]
    fn no_document_panics() {
        const PARTS: [&str; 40] = [
            "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\" xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\">",
            "<feed xmlns=\"http://www.w3.org/2005/Atom\">",
            "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\">",
            "<channel>",
            "</channel>",
            "<item>",
            "</item>",
            "<entry>",
            "</entry>",
            "<title>",
            "</title>",
            "<title type=\"xhtml\">",
            "<content type=\"html\">",
            "<content type=\"xhtml\">",
            "<content type=\"image/png\">",
            "</content>",
            "<link>",
            "</link>",
            "<link href=\"/a\" rel=\"enclosure\" length=\"x\"/>",
            "<enclosure url=\"::\" length=\"-1\" type=\"a\"/>",
            "<guid isPermaLink=\"x\">",
            "</guid>",
            "<pubDate>",
            "</pubDate>",
            "Mon, 99 Foo 2020",
            "<media:group>",
            "</media:group>",
            "<media:content url=\"x\" width=\"a\" duration=\"NaN\"/>",
            "<media:thumbnail/>",
            "<media:text start=\"99:99:99\" end=\"x\">",
            "<itunes:duration>",
            "</itunes:duration>",
            "1:2:3:4",
            "-1",
            "99999999999999999999",
            "<ttl>",
            "</ttl>",
            "<image>",
            "</image>",
            "<![CDATA[",
        ];
        let part = proptest::sample::select(PARTS.to_vec());
        proptest::proptest!(
            proptest::prelude::ProptestConfig::with_cases(std::env::var("WHIT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)),
            |(start in 0..3_usize, parts in proptest::collection::vec(part, 0..40))| {
                let _ = parse(format!("{}{}", PARTS[start], parts.concat()).as_bytes(), "", "https://example.org/");
            }
        );
    }

    #[test]
    fn an_identity_that_is_shared_depends_on_no_order() {
        let document = |titles: &[&str]| -> HashMap<String, String> {
            let item = |title: &&str| format!("<item><guid>x</guid><title>{title}</title></item>");
            let items: String = titles.iter().map(item).collect();
            let feed = feed(&format!("<rss version='2.0'><channel>{items}</channel></rss>"));
            feed.entries.into_iter().map(|entry| (entry.title, entry.identity)).collect()
        };
        let (before, after) = (document(&["b", "a"]), document(&["c", "b", "a"]));
        assert_eq!((&before["a"], &before["b"]), (&after["a"], &after["b"]));
        assert_ne!(after["c"], "x");
        // The same one twice is one.
        assert_eq!(document(&["a", "a"])["a"], "x");
    }
}
