//! Turns the many forms of documents into the one that feed-rs knows.

use std::ops::Range;
use std::time::Duration;

use quick_xml::events::Event;
use quick_xml::{Reader, Writer};
use url::Url;

/// Returns whether a document is a page.
pub(crate) fn is_html(text: &str) -> bool {
    let head: String = text.chars().take(2000).collect::<String>().to_ascii_lowercase();
    head.contains("<!doctype html") || head.contains("<html")
}

/// Without declarations, whose encoding is not that of a text, without characters that XML does not have, and with every RSS as its last
/// version, which has all elements of the others.
pub(crate) fn normal_xml(text: &str) -> String {
    let body = text.find('<').map_or(text, |start| &text[start..]);
    let printable: String =
        body.chars().filter(|letter| *letter >= ' ' || matches!(letter, '\t' | '\n' | '\r')).collect();
    let mut normal = without_declarations(&printable);
    if let Some(start) = normal.find("<rss").filter(|start| *start < 2000)
        && let Some(end) = normal[start..].find('>').map(|length| start + length)
        && normal[start + 4..].starts_with(|letter: char| letter.is_whitespace() || letter == '>')
    {
        match attribute(&normal[start..end], "version") {
            Some(value) => normal.replace_range(start + value.start..start + value.end, "2.0"),
            None => normal.insert_str(start + 4, " version=\"2.0\""),
        }
    }
    const ATOM_0_3: &str = "http://purl.org/atom/ns#";
    if normal.contains(ATOM_0_3) {
        normal = normal.replace(ATOM_0_3, "http://www.w3.org/2005/Atom");
        for (old, new) in [("issued", "published"), ("modified", "updated"), ("tagline", "subtitle")] {
            normal = normal
                .replace(&format!("<{old}"), &format!("<{new}"))
                .replace(&format!("</{old}>"), &format!("</{new}>"));
        }
    }
    // The first RDF feeds had another namespace.
    normal.replace("http://my.netscape.com/rdf/simple/0.9/", "http://purl.org/rss/1.0/")
}

/// Some programs write a declaration more than once; for quick-xml it is a call out of order, and it panics. In character data and
/// comments it is text.
fn without_declarations(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find('<') {
        let (before, markup) = rest.split_at(start);
        out.push_str(before);
        let end = match markup {
            _ if markup.starts_with("<?xml") => "?>",
            _ if markup.starts_with("<![CDATA[") => "]]>",
            _ if markup.starts_with("<!--") => "-->",
            _ => "<",
        };
        rest = markup;
        let Some(length) = markup.find(end).map(|place| place + end.len()) else { break };
        if end != "?>" {
            out.push_str(&markup[..length]);
        }
        rest = &markup[length..];
    }
    out.push_str(rest);
    out
}

/// Namespaces of elements that feeds have, by the prefixes that they have nearly everywhere.
const NAMESPACES: [(&str, &str); 6] = [
    ("atom", "http://www.w3.org/2005/Atom"),
    ("content", "http://purl.org/rss/1.0/modules/content/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("itunes", "http://www.itunes.com/dtds/podcast-1.0.dtd"),
    ("media", "http://search.yahoo.com/mrss/"),
    ("sy", "http://purl.org/rss/1.0/modules/syndication/"),
];

/// Gives the root the namespaces that the parser knows: RSS 2.0 has none of its own, Atom's is also written with another scheme, case or end,
/// and a prefix may be used that is not declared. Elements of a namespace that is not known would be skipped.
pub(crate) fn with_known_namespaces(mut text: String) -> String {
    let roots = ["<rss", "<feed", "<rdf:RDF"].into_iter();
    let Some((begin, root)) = roots.filter_map(|root| Some((text.find(root)?, root))).min() else {
        return text;
    };
    let Some(length) = text[begin..].find('>') else { return text };
    let is_undeclared =
        |prefix: &str| text.contains(&format!("<{prefix}:")) && !text.contains(&format!("xmlns:{prefix}"));
    let undeclared = NAMESPACES.iter().filter(|(prefix, _)| is_undeclared(prefix));
    let declarations: String =
        undeclared.map(|(prefix, namespace)| format!(" xmlns:{prefix}=\"{namespace}\"")).collect();
    if let Some(value) = attribute(&text[begin..begin + length], "xmlns") {
        let range = begin + value.start..begin + value.end;
        let namespace = text[range.clone()].to_lowercase();
        let replacement = match root {
            "<rss" if namespace != "http://purl.org/rss/1.0/" => Some(""),
            "<feed" if namespace.contains("www.w3.org/2005/atom") => Some("http://www.w3.org/2005/Atom"),
            _ => None,
        };
        if let Some(replacement) = replacement {
            text.replace_range(range, replacement);
        }
    }
    text.insert_str(begin + root.len(), &declarations);
    text
}

/// Returns where the value of an attribute is in a tag.
fn attribute(tag: &str, name: &str) -> Option<Range<usize>> {
    tag.match_indices(name).find_map(|(place, _)| {
        let value = tag[place + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let start = tag.len() - value.len() + 1;
        let length = tag[start..].find(quote)?;
        tag[..place].ends_with(char::is_whitespace).then_some(start..start + length)
    })
}

/// With a link for each item of RSS whose only one is of Atom: `<atom:link href="…"/>`, which feed-rs does not read there.
pub(crate) fn with_own_links(text: String) -> String {
    const ATOM: &str = "http://www.w3.org/2005/Atom";
    let prefixes: Vec<&str> = text
        .match_indices("xmlns:")
        .filter_map(|(place, start)| {
            let (prefix, rest) = text[place + start.len()..].split_once('=')?;
            rest.get(1..)?.starts_with(ATOM).then(|| prefix.trim())
        })
        .collect();
    if prefixes.is_empty() || !text.contains("<item") {
        return text;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(end) = rest.find("</item>") {
        let (before, after) = rest.split_at(end);
        out.push_str(before);
        let item = &before[before.rfind("<item").unwrap_or(0)..];
        if !item.contains("<link")
            && let Some(href) = prefixes.iter().find_map(|prefix| page_of(item, &format!("<{prefix}:link")))
        {
            out.push_str(&format!("<link>{href}</link>"));
        }
        out.push_str("</item>");
        rest = &after["</item>".len()..];
    }
    out.push_str(rest);
    out
}

/// The address of the page in an item's elements of this name, escaped as it is there.
fn page_of<'a>(item: &'a str, start: &str) -> Option<&'a str> {
    item.match_indices(start).find_map(|(place, _)| {
        let tag = item[place + start.len()..].split('>').next()?;
        let attribute = |name: &str| Some(&tag[attribute(tag, name)?]);
        attribute("href").filter(|_| attribute("rel").is_none_or(|rel| rel == "alternate"))
    })
}

/// With each `xml:base` as an absolute address: <https://www.w3.org/TR/xmlbase/>. feed-rs returns that of a content as it is written.
pub(crate) fn absolute_bases(text: String, address: &str) -> String {
    let Ok(address) = Url::parse(address) else { return text };
    if !text.contains("xml:base") {
        return text;
    }
    let mut reader = Reader::from_str(&text);
    let (mut writer, mut bases) = (Writer::new(Vec::new()), vec![address]);
    loop {
        let event = match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => event,
            // What reads it next reports it.
            Err(_) => return text,
        };
        let (Event::Start(element) | Event::Empty(element)) = &event else {
            if matches!(event, Event::End(_)) && bases.len() > 1 {
                bases.pop();
            }
            if writer.write_event(event).is_err() {
                return text;
            }
            continue;
        };
        let is_start = matches!(event, Event::Start(_));
        let mut base = bases.last().cloned();
        let mut written = element.to_owned();
        written.clear_attributes();
        for attribute in element.attributes().with_checks(false).flatten() {
            if attribute.key.as_ref() == "xml:base" {
                base = base.and_then(|base| base.join(attribute.value.trim()).ok()).or(bases.last().cloned());
                if let Some(base) = &base {
                    written.push_attribute(("xml:base", base.as_str()));
                }
            } else {
                written.push_attribute(attribute);
            }
        }
        let event = if is_start { Event::Start(written) } else { Event::Empty(written) };
        if writer.write_event(event).is_err() {
            return text;
        }
        if is_start {
            bases.extend(base);
        }
    }
    String::from_utf8(writer.into_inner()).unwrap_or(text)
}

/// The syndication module of RSS 1.0: how often in a period the feed is updated.
pub(crate) fn update_period(text: &str) -> Option<Duration> {
    let element = |name: &str| {
        let start = text.find(&format!("<{name}>"))? + name.len() + 2;
        Some(text[start..].split('<').next()?.trim())
    };
    let seconds = match element("sy:updatePeriod")? {
        "hourly" => 3600,
        "daily" => 86_400,
        "weekly" => 7 * 86_400,
        "monthly" => 30 * 86_400,
        "yearly" => 365 * 86_400,
        _ => return None,
    };
    let often = element("sy:updateFrequency").and_then(|often| often.parse().ok()).unwrap_or(1);
    Some(Duration::from_secs(seconds / u64::max(often, 1)))
}
