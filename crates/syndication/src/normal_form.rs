//! What documents have in many forms, brought into the one that feed-rs knows.

use std::time::Duration;

/// Whether a document is a page.
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
        let tag = normal[start..end].to_owned();
        let version = tag.find("version").map(|place| &tag[place..]);
        let quoted = version.and_then(|version| {
            let quote = version.find(['"', '\''])?;
            let length = version[quote + 1..].find(['"', '\''])?;
            Some((start + tag.len() - version.len(), quote + length + 2))
        });
        match quoted {
            Some((place, length)) => normal.replace_range(place..place + length, "version=\"2.0\""),
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
