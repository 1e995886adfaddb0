//! Answers of HTTP/1.1: RFC 9112.

use std::io::Write as _;

/// An answer that is always the same, made once.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) status: u16,
    pub(super) kept_alive: Vec<u8>,
    pub(super) last: Vec<u8>,
}

impl Answer {
    /// Creates an answer of this status, without a body.
    pub(crate) fn new(status: u16) -> Self {
        let made = |is_last| {
            let mut bytes = Vec::new();
            push_response(&mut bytes, status, &[], b"", false, is_last);
            bytes
        };
        Self { status, kept_alive: made(false), last: made(true) }
    }
}

/// Appends a response. To HEAD it has the length of the body, and no body.
pub(super) fn push_response(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
    is_head: bool,
    is_last: bool,
) {
    // These have no body, and say nothing of its length (RFC 9110, 8.6).
    let is_bodiless = matches!(status, 100..200 | 204 | 304);
    // A Vec takes whatever is written to it.
    let _ = write!(out, "HTTP/1.1 {status} {}\r\n", reason(status));
    if !is_bodiless {
        let _ = write!(out, "Content-Length: {}\r\n", body.len());
    }
    for (name, value) in headers {
        let _ = write!(out, "{name}: {value}\r\n");
    }
    let _ = write!(out, "Connection: {}\r\n\r\n", if is_last { "close" } else { "keep-alive" });
    if !is_bodiless && !is_head {
        out.extend_from_slice(body);
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}
