//! Headers of responses as the cache may see them.

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

/// Headers of a response that decide about its use (RFC 9111).
const CACHE_HEADERS: [HeaderName; 8] = [
    header::AGE,
    header::CACHE_CONTROL,
    header::DATE,
    header::ETAG,
    header::EXPIRES,
    header::LAST_MODIFIED,
    header::PRAGMA,
    header::VARY,
];
const MAX_DIGITS: usize = 9;

/// Returns the status and headers that the cache decides by. Numbers are such that the sum of any two is one: http-cache-semantics adds
/// what servers say unchecked, and a panic ends the process.
pub(crate) fn for_cache(headers: &HeaderMap, status: u16) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    for name in CACHE_HEADERS {
        for value in headers.get_all(&name) {
            let value = match name == header::ETAG {
                true => Some(value.clone()),
                false => {
                    let text = value.to_str().unwrap_or_default();
                    HeaderValue::from_str(&with_short_numbers(text)).ok()
                }
            };
            if let Some(value) = value {
                response.headers_mut().append(&name, value);
            }
        }
    }
    response
}

/// A header with numbers of at most nine digits, which are thirty years of seconds.
fn with_short_numbers(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut digits = 0;
    for letter in text.chars() {
        digits = if letter.is_ascii_digit() { digits + 1 } else { 0 };
        if digits <= MAX_DIGITS {
            short.push(letter);
        }
    }
    short
}

/// A 304 need not repeat the validators of its document (RFC 9110, 15.4.5): then they are those of the request.
pub(crate) fn with_validators(mut response: Response<()>, asked: &HeaderMap) -> Response<()> {
    let headers = response.headers_mut();
    if headers.contains_key(header::ETAG) || headers.contains_key(header::LAST_MODIFIED) {
        return response;
    }
    for (condition, validator) in
        [(header::IF_NONE_MATCH, header::ETAG), (header::IF_MODIFIED_SINCE, header::LAST_MODIFIED)]
    {
        if let Some(value) = asked.get(condition) {
            headers.insert(validator, value.clone());
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use http::Request;
    use http_cache_semantics::CachePolicy;

    use super::*;

    #[test]
    fn no_header_ends_the_process() {
        let request = Request::get("http://h/x").body(()).unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let numbers =
            ["18446744073709551615", "99999999999999999999999", "-1", "x", "\"18446744073709551615\""];
        let dates = [
            "Fri, 31 Dec 9999 23:59:59 GMT",
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "Mon, 01 Jan 0001 00:00:00 GMT",
            "x",
        ];
        for number in numbers {
            for date in dates {
                let mut headers = HeaderMap::new();
                let control = format!("max-age={number}, stale-while-revalidate={number}, s-maxage={number}");
                headers.insert(header::AGE, number.parse().unwrap());
                headers.insert(header::CACHE_CONTROL, control.parse().unwrap());
                for name in [header::DATE, header::EXPIRES, header::LAST_MODIFIED] {
                    headers.insert(name, date.parse().unwrap());
                }
                let policy = CachePolicy::new(&request, &for_cache(&headers, 200));
                for later in [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(1 << 33)] {
                    let _ = policy.time_to_live(now + later);
                    let _ = policy.before_request(&request, now + later);
                    let _ = policy.after_response(&request, &for_cache(&headers, 304), now + later);
                }
            }
        }
        assert_eq!(with_short_numbers("max-age=18446744073709551615, x=12"), "max-age=184467440, x=12");
    }
}
