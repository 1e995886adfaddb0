//! The feed at an address: that document, or one that its page names.

use std::time::SystemTime;

use syndication::{FoundFeed, ParsedFeed, Reading, parse_url};

use crate::cache::DocumentDigest;
use crate::fetch::{Cost, FetchError, Fetched, Fetcher};
use crate::parser::DocumentParser;

/// A page's feeds that are tried until one is a feed.
const MAX_TRIED: usize = 3;

/// Finds the feed at an address.
///
/// # Errors
/// Says why there is none.
pub fn locate(
    fetcher: &Fetcher,
    parser: &DocumentParser,
    address: &str,
    now: SystemTime,
) -> Result<FoundFeed, String> {
    let mut cost = Cost::default();
    let fetched = fetcher.fetch(address, None, now, &mut cost).map_err(|error| error.to_string())?;
    let (url, feed) = match fetcher.read(parser, &fetched)? {
        Some(Reading::Feed(feed)) => {
            (fetched.moved_to.map_or_else(|| parse_url(address).map(String::from), Ok)?, feed)
        }
        Some(Reading::Page(found)) => {
            feed_of_page(fetcher, parser, found, now, &mut cost).map(|(url, feed, _)| (url, feed))?
        }
        Some(Reading::Neither(reason)) => return Err(format!("it is not a feed: {reason}")),
        None => return Err("its server sent no document".to_owned()),
    };
    Ok(FoundFeed { url, title: feed.title })
}

/// The first feed of those that a page names, and its address.
///
/// # Errors
/// If none of them is one.
pub(crate) fn feed_of_page(
    fetcher: &Fetcher,
    parser: &DocumentParser,
    found: Vec<FoundFeed>,
    now: SystemTime,
    cost: &mut Cost,
) -> Result<(String, ParsedFeed, DocumentDigest), String> {
    for found in found.into_iter().take(MAX_TRIED) {
        let fetched: Result<Fetched, FetchError> = fetcher.fetch(&found.url, None, now, cost);
        let Ok(fetched) = fetched else { continue };
        if let Ok(Some(Reading::Feed(feed))) = fetcher.read(parser, &fetched) {
            return Ok((fetched.moved_to.unwrap_or(found.url), feed, fetched.digest));
        }
    }
    Err("it is a page that names no feed".to_owned())
}
