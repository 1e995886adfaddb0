//! Requests of HTTP/1.1 as they come: RFC 9112.

use crate::http_body::BodyReader;

const HEADERS: usize = 64;
/// The most bytes of a body that are kept for the log.
const MAX_KEPT_BYTES: usize = 64 << 10;

/// The result of parsing the head of a request.
#[derive(Debug)]
pub(super) enum Begun<'a> {
    Partial,
    /// No request, or one that cannot be answered; the status that says so.
    Wrong(u16),
    Head(Head<'a>),
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct Head<'a> {
    /// In bytes.
    pub(super) length: usize,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// The client wants nothing more over this connection.
    pub(super) is_last: bool,
    pub(super) body: BodyReader,
    /// The client sends the body only after a response 100 (Continue): RFC 9110, section 10.1.1.
    pub(super) expects_continue: bool,
}

/// Reads the head that bytes begin with, and calls `each` with the names and values of its headers.
pub(super) fn read_head<'a>(bytes: &'a [u8], mut each: impl FnMut(&str, &[u8])) -> Begun<'a> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Begun::Partial,
        Err(httparse::Error::TooManyHeaders) => return Begun::Wrong(431),
        Err(_) => return Begun::Wrong(400),
    };
    let (mut body_length, mut is_chunked, mut expects_continue) = (None, false, false);
    let (mut closes, mut keeps) = (false, false);
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let value = || std::str::from_utf8(header.value).unwrap_or_default().trim();
        match header.name.len() {
            14 if is("content-length") => match value().bytes().try_fold(0, digit) {
                Some(length) if !value().is_empty() && body_length.is_none_or(|other| other == length) => {
                    body_length = Some(length);
                }
                _ => return Begun::Wrong(400),
            },
            // A list, in one header or in several (RFC 9110, 7.6.1).
            10 if is("connection") => {
                for option in value().split(',').map(str::trim) {
                    closes |= option.eq_ignore_ascii_case("close");
                    keeps |= option.eq_ignore_ascii_case("keep-alive");
                }
            }
            17 if is("transfer-encoding") && value().eq_ignore_ascii_case("chunked") => is_chunked = true,
            17 if is("transfer-encoding") => return Begun::Wrong(501),
            6 if is("expect") => expects_continue = value().eq_ignore_ascii_case("100-continue"),
            _ => {}
        }
        each(header.name, header.value);
    }
    let body = match (is_chunked, body_length) {
        // Two lengths of one body are an attack.
        (true, Some(_)) => return Begun::Wrong(400),
        (true, None) => BodyReader::Chunks,
        (false, length) => BodyReader::Length(length.unwrap_or(0)),
    };
    let is_last = closes || request.version == Some(0) && !keeps;
    Begun::Head(Head {
        length,
        method: request.method.unwrap_or_default(),
        path: request.path.unwrap_or("/"),
        is_last,
        body,
        expects_continue,
    })
}

/// A number that goes on with a digit; a sign is none.
fn digit(number: u64, byte: u8) -> Option<u64> {
    let digit = char::from(byte).to_digit(10)?;
    number.checked_mul(10)?.checked_add(digit.into())
}

/// A request whose body is still to come, or which is to be logged.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) is_last: bool,
    /// For the log, where it has them.
    pub(super) headers: Vec<(String, String)>,
    /// The beginning of the body, likewise.
    pub(super) kept: Vec<u8>,
    pub(super) body_bytes: u64,
}

impl Request {
    pub(super) fn new(head: &Head<'_>) -> Self {
        Self {
            method: head.method.to_owned(),
            path: head.path.to_owned(),
            is_last: head.is_last,
            ..Self::default()
        }
    }

    /// Adds a piece of the body.
    pub(super) fn add(&mut self, bytes: &[u8], is_kept: bool) {
        self.body_bytes += bytes.len() as u64;
        if is_kept {
            let room = MAX_KEPT_BYTES - self.kept.len();
            self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_do_not_agree_are_refused() {
        let status = |headers: &str| {
            let text = format!("POST / HTTP/1.1\r\n{headers}\r\n\r\n");
            match read_head(text.as_bytes(), |_, _| {}) {
                Begun::Wrong(status) => status,
                Begun::Head(_) => 200,
                Begun::Partial => 0,
            }
        };
        assert_eq!(status("Content-Length: 3"), 200);
        assert_eq!(status("Content-Length: 3\r\ncontent-length: 3"), 200);
        for wrong in ["-5", "+5", "x", "", "3\r\nContent-Length: 4", "3\r\nTransfer-Encoding: chunked"] {
            assert_eq!(status(&format!("Content-Length: {wrong}")), 400, "{wrong}");
        }
        assert_eq!(status("Transfer-Encoding: gzip"), 501);
    }

    #[test]
    fn the_options_of_a_connection_are_a_list() {
        let is_last = |version: &str, headers: &str| {
            let text = format!("GET / HTTP/1.{version}\r\n{headers}\r\n\r\n");
            match read_head(text.as_bytes(), |_, _| {}) {
                Begun::Head(head) => head.is_last,
                _ => panic!("{text}"),
            }
        };
        assert!(is_last("1", "Connection: TE, close"));
        assert!(is_last("1", "Connection: close\r\nConnection: TE"));
        assert!(!is_last("1", "Connection: TE"));
        assert!(!is_last("0", "Connection: Keep-Alive, TE"));
        assert!(is_last("0", "Connection: TE"));
    }
}
