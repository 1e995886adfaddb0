//! A request's parts, and replies.

use http::{Method, Request, Response, StatusCode, header};

use super::html::Html;
use super::upload;

/// Parameters of a request; others are ignored.
const MAX_PAIRS: usize = 20_000;

pub(super) type Reply = Response<Vec<u8>>;

/// A request with its parameters: those of the address, and of a form in the body.
pub(super) struct Asked {
    request: Request<Vec<u8>>,
    pairs: Vec<(String, String)>,
    /// The pairs that are in the address.
    in_address: usize,
    /// A file of a form.
    pub(super) upload: Option<Vec<u8>>,
}

impl Asked {
    pub(super) fn new(request: Request<Vec<u8>>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let parse = |text: &[u8]| -> Vec<(String, String)> {
            form_urlencoded::parse(text).into_owned().take(MAX_PAIRS).collect()
        };
        let mut pairs = parse(query.as_bytes());
        let in_address = pairs.len();
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        let mut file = None;
        if kind.starts_with("application/x-www-form-urlencoded") {
            pairs.extend(parse(request.body()));
        } else if let Some(boundary) = upload::boundary(kind) {
            let (fields, found) = upload::parse(request.body(), &boundary);
            pairs.extend(fields);
            file = found;
        }
        Self { request, pairs, in_address, upload: file }
    }

    pub(super) fn method(&self) -> &Method {
        self.request.method()
    }

    pub(super) fn path(&self) -> &str {
        self.request.uri().path()
    }

    pub(super) fn body(&self) -> &[u8] {
        self.request.body()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.request.headers().get(name)?.to_str().ok()
    }

    /// Where a list goes on, as [`place_text`] writes it; `None` if it is not there, or malformed.
    pub(super) fn place(&self, name: &str) -> Option<(i64, i64)> {
        // Times before 1970 begin with a minus.
        let (sort_ms, id) = self.get(name).rsplit_once('-')?;
        Some((sort_ms.parse().ok()?, id.parse().ok()?))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(known, _)| known == name)
    }

    /// A parameter; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.pairs.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.get(name).parse().ok()
    }

    /// The parameters of the address, without some of them.
    pub(super) fn address_without(&self, names: &[&str]) -> String {
        let mut out = form_urlencoded::Serializer::new(String::new());
        for (name, value) in
            self.pairs[..self.in_address].iter().filter(|(name, _)| !names.contains(&name.as_str()))
        {
            out.append_pair(name, value);
        }
        out.finish()
    }

    /// A cookie. Of several with this name, none: another site of the domain set one.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        let mut found = self
            .request
            .headers()
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(known, _)| *known == name)
            .map(|(_, value)| value);
        let first = found.next();
        if found.next().is_some() { None } else { first }
    }

    /// Returns the attribute that a cookie has if the browser speaks TLS, to a proxy.
    pub(super) fn secure(&self) -> &'static str {
        if self.header("x-forwarded-proto") == Some("https") { "; Secure" } else { "" }
    }

    /// Returns whether a user asks for a page: not another site, not a browser that prepares it, and not an image or video of an entry that
    /// has its address. Without TLS most browsers show the last by `Accept` and `Range` alone.
    pub(super) fn is_deliberate(&self) -> bool {
        let header = |name| self.header(name).unwrap_or_default();
        let purpose = self.header("sec-purpose").unwrap_or(header("purpose"));
        let is_medium = ["image/", "video/", "audio/"].iter().any(|kind| header("accept").starts_with(kind))
            || self.header("range").is_some();
        *self.method() == Method::GET
            && !is_medium
            && !purpose.contains("prefetch")
            && matches!(header("sec-fetch-site"), "" | "same-origin" | "none")
            && matches!(header("sec-fetch-dest"), "" | "document" | "empty")
    }
}

/// A page, never kept by a browser.
pub(super) fn page(status: StatusCode, policy: &'static str, body: Html) -> Reply {
    let reply = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "text/html; charset=utf-8")
        .header(header::CONTENT_SECURITY_POLICY, policy)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        // With "no-referrer" forms of this page would come from the origin "null".
        .header(header::REFERRER_POLICY, "same-origin")
        .header(header::CACHE_CONTROL, "no-store");
    reply.body(body.into_bytes()).unwrap_or_default()
}

pub(super) fn text(status: StatusCode, body: &str) -> Reply {
    plain(status, "text/plain; charset=utf-8", body)
}

/// The place of an entry in a list: its time and number.
pub(super) fn place_text((sort_ms, id): (i64, i64)) -> String {
    format!("{sort_ms}-{id}")
}

/// A list of subscriptions.
pub(super) fn opml(list: &str) -> Reply {
    plain(StatusCode::OK, "text/x-opml; charset=utf-8", list)
}

pub(super) fn plain(status: StatusCode, kind: &'static str, body: &str) -> Reply {
    let reply = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::CACHE_CONTROL, "no-store");
    reply.body(body.as_bytes().to_vec()).unwrap_or_default()
}

pub(super) fn redirect(location: &str) -> Reply {
    let reply = Response::builder().status(StatusCode::SEE_OTHER).header(header::LOCATION, location);
    reply.body(Vec::new()).unwrap_or_default()
}
