//! The files of the page: they are hashed and compressed once, when they are asked for first.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::compression::{accepts_gzip, gzip_best};

/// Nothing from elsewhere, and no script or style within the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// All of them.
#[derive(Debug)]
pub(super) struct Assets {
    pub(super) index: Asset,
    pub(super) script: Asset,
    pub(super) style: Asset,
}

impl Default for Assets {
    fn default() -> Self {
        let asset = |kind, text| Asset { kind, text, made: OnceLock::new() };
        Self {
            index: asset("text/html; charset=utf-8", include_str!("../../../../web/dist/index.html")),
            script: asset("text/javascript; charset=utf-8", include_str!("../../../../web/dist/page.js")),
            style: asset("text/css; charset=utf-8", include_str!("../../../../web/dist/style.css")),
        }
    }
}

/// One file.
#[derive(Debug)]
pub(super) struct Asset {
    kind: &'static str,
    text: &'static str,
    made: OnceLock<Made>,
}

/// The hash and the compressed bytes of a file.
#[derive(Debug)]
struct Made {
    tag: String,
    /// `None`: it cannot be compressed.
    compressed: Option<Bytes>,
}

impl Asset {
    /// Returns the file, compressed if the client accepts that; nothing if the client has it already.
    pub(super) fn reply(&self, asked: &HeaderMap) -> Response {
        let Made { tag, compressed } = self.made.get_or_init(|| Made::new(self.text));
        let headers = [
            (header::CONTENT_TYPE, self.kind),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::REFERRER_POLICY, "same-origin"),
            (header::CACHE_CONTROL, "no-cache"),
            (header::VARY, "Accept-Encoding"),
            (header::ETAG, tag.as_str()),
        ];
        let is_known =
            asked.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
        match compressed.as_ref().filter(|_| accepts_gzip(asked)) {
            _ if is_known => (StatusCode::NOT_MODIFIED, headers).into_response(),
            Some(bytes) => (headers, [(header::CONTENT_ENCODING, "gzip")], bytes.clone()).into_response(),
            None => (headers, self.text).into_response(),
        }
    }
}

impl Made {
    fn new(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self { tag, compressed: gzip_best(text.as_bytes()).ok().map(Bytes::from) }
    }
}
