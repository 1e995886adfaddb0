//! Addresses of documents, as feeds and users write them.

use url::Url;

/// The longest address.
const MAX_URL_BYTES: usize = 2048;

/// An address of an http or https URL.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_url(text: &str) -> Result<Url, String> {
    if text.len() > MAX_URL_BYTES {
        return Err(format!("the address has more than {MAX_URL_BYTES} bytes"));
    }
    let mut url =
        Url::parse(text.trim()).map_err(|error| format!("\"{}\" is not an address: {error}", text.trim()))?;
    url.set_fragment(None);
    match url.scheme() {
        "http" | "https" if url.has_host() => match url.as_str().parse::<http::Uri>() {
            Ok(_) => Ok(url),
            Err(error) => Err(format!("\"{}\" is not an address: {error}", text.trim())),
        },
        scheme => Err(format!("{scheme} addresses are not fetched, only http and https")),
    }
}

/// Reads the address of a page, to be opened and not fetched: with its fragment, and with schemes that other programs open.
/// `None`: it is none of these.
pub(crate) fn page_address(text: &str) -> Option<String> {
    let url = Url::parse(text.trim()).ok().filter(|_| text.len() <= MAX_URL_BYTES)?;
    let is_page = match url.scheme() {
        "http" | "https" | "ftp" | "gemini" | "gopher" => url.has_host(),
        scheme => matches!(scheme, "magnet" | "mailto" | "xmpp"),
    };
    is_page.then(|| url.into())
}

/// An address as users type it: `https://` if it has no scheme, as browsers do. `feed:` is what pages once wrote in links to feeds.
pub fn with_scheme(address: &str) -> String {
    let mut address = address.trim();
    if let Some(rest) = address.strip_prefix("feed:") {
        address = rest.trim_start_matches("//");
    }
    let scheme = address.find("://").map(|end| &address[..end]);
    let has_scheme = scheme.is_some_and(|scheme| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if has_scheme { address.to_owned() } else { format!("https://{address}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_added_where_there_is_none() {
        for (typed, address) in [
            ("example.org", "https://example.org"),
            (" http://example.org ", "http://example.org"),
            ("example.org/?u=http://x", "https://example.org/?u=http://x"),
            ("feed://example.org/rss", "https://example.org/rss"),
            ("feed:http://example.org/rss", "http://example.org/rss"),
        ] {
            assert_eq!(with_scheme(typed), address);
        }
    }

    #[test]
    fn only_addresses_of_http_are_fetched() {
        for address in
            ["file:///etc/passwd", "ftp://a/b", "javascript:alert(1)", "http://", "a", "", "gopher://a:70/1"]
        {
            assert!(parse_url(address).is_err(), "{address}");
        }
        assert_eq!(
            parse_url(" https://BÜCHER.example/ä#b ").unwrap().as_str(),
            "https://xn--bcher-kva.example/%C3%A4"
        );
    }
}
