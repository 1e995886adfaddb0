//! The feeds of a page: its links to alternates, and links that look like feeds.

use std::cell::RefCell;

use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::entry_text::tokenize;
use crate::web_address::parse_url;

/// Addresses of a page that are offered.
const MAX_FEEDS: usize = 20;

/// A feed that a page names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFeed {
    /// Its address.
    pub url: String,
    /// The title that the page gives it; empty: none.
    pub title: String,
}

/// Finds the feeds of a page: what it declares first, then links that end as those of feeds do.
pub(crate) fn find_feeds(html: &str, address: &str) -> Vec<FoundFeed> {
    let sink = tokenize(html, Finder::default());
    let Finder { declared, linked, base } = sink;
    let page = parse_url(address).ok();
    let base = page.as_ref().and_then(|page| page.join(&base.into_inner()).ok()).or(page);
    let mut found: Vec<FoundFeed> = Vec::new();
    for (href, title) in declared.into_inner().into_iter().chain(linked.into_inner()) {
        let url = base.as_ref().map_or_else(|| Url::parse(&href), |base| base.join(&href));
        let Ok(url) = url.map_err(|error| error.to_string()).and_then(|url| parse_url(url.as_str())) else {
            continue;
        };
        if found.len() < MAX_FEEDS && !found.iter().any(|known| known.url == url.as_str()) {
            found.push(FoundFeed { url: url.into(), title });
        }
    }
    found
}

#[derive(Default)]
struct Finder {
    declared: RefCell<Vec<(String, String)>>,
    linked: RefCell<Vec<(String, String)>>,
    base: RefCell<String>,
}

impl TokenSink for Finder {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        let attribute = |name: &str| {
            let found = tag.attrs.iter().find(|attribute| &*attribute.name.local == name);
            found.map(|attribute| attribute.value.to_string()).unwrap_or_default()
        };
        match &*tag.name {
            "link" => {
                let kind = attribute("type").to_ascii_lowercase();
                let is_feed = ["rss", "atom", "feed+json", "rdf"].iter().any(|word| kind.contains(word));
                let rel = attribute("rel").to_ascii_lowercase();
                if rel.split_whitespace().any(|rel| matches!(rel, "alternate" | "feed"))
                    && (is_feed || rel.contains("feed"))
                {
                    self.declared.borrow_mut().push((attribute("href"), attribute("title")));
                }
            }
            "a" => {
                let href = attribute("href");
                let path = href
                    .split(['?', '#'])
                    .next()
                    .unwrap_or_default()
                    .trim_end_matches('/')
                    .to_ascii_lowercase();
                let ends = [
                    ".rss",
                    ".atom",
                    ".rdf",
                    "/rss",
                    "/feed",
                    "/atom",
                    "rss.xml",
                    "atom.xml",
                    "feed.xml",
                    "feed.json",
                    "index.xml",
                ];
                if ends.iter().any(|end| path.ends_with(end)) {
                    self.linked.borrow_mut().push((href, String::new()));
                }
            }
            "base" if self.base.borrow().is_empty() => *self.base.borrow_mut() = attribute("href"),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_feeds_come_first() {
        let html = "<html><head><title>t</title><LINK REL='alternate home' TYPE='application/rss+xml' HREF='/all.xml' TITLE='All'>\
            <link rel=stylesheet href=a.css><link rel=alternate type=text/html href=/de></head>\
            <a href='news/feed/'>News</a><a href='/all.xml'>again</a><a href='javascript:x/feed'>no</a></html>";
        let found = find_feeds(html, "https://example.org/blog/");
        let urls: Vec<&str> = found.iter().map(|feed| feed.url.as_str()).collect();
        assert_eq!(urls, ["https://example.org/all.xml", "https://example.org/blog/news/feed/"]);
        assert_eq!(found[0].title, "All");
    }
}
