//! Replies with gzip, for those who accept it, where that makes fewer packets of them.

use std::io::{self, Write as _};

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The least bytes of a reply that is compressed: a smaller one fits into a packet and is sent as it is.
const MIN_BYTES: u64 = 1400;
/// A millisecond or two.
const MAX_AT_ONCE: usize = 200_000;

/// Compresses replies that are complete.
pub(super) async fn compress(request: Request, next: Next) -> Response {
    let is_accepted = accepts_gzip(request.headers());
    let response = next.run(request).await;
    // Events have no length, and go out one by one.
    let is_worth_it =
        http_body::Body::size_hint(response.body()).exact().is_some_and(|bytes| bytes >= MIN_BYTES);
    if !is_accepted || !is_worth_it || response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Ok(whole) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(head, Body::empty());
    };
    let compressed = match whole.len() {
        0..MAX_AT_ONCE => gzip(&whole),
        _ => {
            let bytes = whole.clone();
            // Others are served meanwhile.
            tokio::task::spawn_blocking(move || gzip(&bytes)).await.unwrap_or_else(|error| Err(error.into()))
        }
    };
    match compressed {
        Ok(bytes) => {
            head.headers.remove(header::CONTENT_LENGTH);
            head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            head.headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            Response::from_parts(head, Body::from(bytes))
        }
        Err(_) => Response::from_parts(head, Body::from(whole)),
    }
}

fn gzip(whole: &[u8]) -> io::Result<Vec<u8>> {
    gzip_with(Compression::fast(), whole)
}

/// Compresses what is sent again and again.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn gzip_best(whole: &[u8]) -> io::Result<Vec<u8>> {
    gzip_with(Compression::best(), whole)
}

fn gzip_with(level: Compression, whole: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(whole)?;
    encoder.finish()
}

/// Returns whether a client takes replies with gzip.
pub(super) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|accepted| accepted.to_str().ok());
    let mut codings = accepted.unwrap_or_default().split(',').map(str::trim);
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let is_refused = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()) == Some(0.0);
        name.trim() == "gzip" && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_for_those_who_accept_it() {
        let accepts = |accepted: &'static str| {
            accepts_gzip(&HeaderMap::from_iter([(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(accepted),
            )]))
        };
        assert!(accepts("gzip"));
        assert!(accepts("deflate, gzip;q=0.5, br"));
        assert!(!accepts("deflate, gzip;q=0"));
        assert!(!accepts("identity"));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
