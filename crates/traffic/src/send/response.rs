//! Responses of HTTP/1.1 as they come in pieces: RFC 9112.

use std::io;

use crate::http_body::BodyReader;

/// A head may be so long.
const MAX_HEAD_BYTES: usize = 64 << 10;
const HEADERS: usize = 128;

/// Takes responses apart, one after the other.
#[derive(Debug, Default)]
pub(super) struct ResponseReader {
    received: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    Body {
        body: BodyReader,
        response: Response,
    },
}

/// A response that came whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    /// The server closes the connection behind it.
    pub(super) is_last: bool,
}

impl ResponseReader {
    /// Takes bytes; a response where one is whole with them. `has_body` is false of answers to HEAD, which tell the length of what
    /// they leave out.
    ///
    /// # Errors
    /// If they are no HTTP.
    pub(super) fn take(&mut self, bytes: &[u8], has_body: bool) -> io::Result<Option<Response>> {
        self.received.extend_from_slice(bytes);
        loop {
            match self.state {
                State::Head => match self.head(has_body)? {
                    Some(state) => self.state = state,
                    None => return Ok(None),
                },
                State::Body { mut body, response } => {
                    let taken =
                        body.take(&self.received, |_| {}).map_err(|error| wrong(&error.to_string()))?;
                    self.received.drain(..taken);
                    if body.is_whole() {
                        return Ok(Some(self.end(response)));
                    }
                    self.state = State::Body { body, response };
                    return Ok(None);
                }
            }
        }
    }

    /// The connection has ended: a response that had no other end is whole.
    pub(super) fn close(&mut self) -> Option<Response> {
        match self.state {
            State::Body { body: BodyReader::UntilEnd, response } => Some(self.end(response)),
            _ => None,
        }
    }

    fn end(&mut self, response: Response) -> Response {
        self.state = State::Head;
        response
    }

    /// Reads a head; `None` if it is not whole.
    fn head(&mut self, has_body: bool) -> io::Result<Option<State>> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        let length = match head.parse(&self.received) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if self.received.len() <= MAX_HEAD_BYTES => return Ok(None),
            Ok(httparse::Status::Partial) => return Err(wrong("a head without end")),
            Err(error) => return Err(wrong(&error.to_string())),
        };
        let header = |name: &str| {
            let found = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.and_then(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
        };
        let status = head.code.unwrap_or(0);
        let connection = header("connection").unwrap_or_default();
        let is_last = match head.version {
            Some(0) => !connection.eq_ignore_ascii_case("keep-alive"),
            _ => connection.eq_ignore_ascii_case("close"),
        };
        let response = Response { status, is_last };
        let is_chunked =
            header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        let body = |body, response| State::Body { body, response };
        let state = match (status, header("content-length").map(str::parse)) {
            // What comes before the response proper.
            (100..200, _) => State::Head,
            _ if !has_body => body(BodyReader::Length(0), response),
            (204 | 304, _) => body(BodyReader::Length(0), response),
            _ if is_chunked => body(BodyReader::Chunks, response),
            (_, Some(Ok(length))) => body(BodyReader::Length(length), response),
            (_, Some(Err(_))) => return Err(wrong("a length that is no number")),
            (_, None) => body(BodyReader::UntilEnd, Response { is_last: true, ..response }),
        };
        self.received.drain(..length);
        Ok(Some(state))
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the answer is no HTTP: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In pieces of every length.
    fn read(bytes: &[u8], piece: usize) -> Vec<Response> {
        let mut reader = ResponseReader::default();
        let mut found = Vec::new();
        for piece in bytes.chunks(piece) {
            let mut next = reader.take(piece, true).unwrap();
            while let Some(response) = next {
                found.push(response);
                next = reader.take(b"", true).unwrap();
            }
        }
        found.extend(reader.close());
        found
    }

    #[test]
    fn an_answer_to_head_is_its_head() {
        let mut reader = ResponseReader::default();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n";
        for _ in 0..2 {
            let response = reader.take(head, false).unwrap();
            assert_eq!(response, Some(Response { status: 200, is_last: false }));
        }
    }

    #[test]
    fn responses_are_found_however_they_are_cut() {
        let text = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc\
                     HTTP/1.1 204 No Content\r\n\r\n\
                     HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n\
                     HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n\
                     HTTP/1.0 200 OK\r\n\r\nuntil the end";
        for piece in 1..=text.len() {
            let found = read(text, piece);
            let statuses: Vec<u16> = found.iter().map(|response| response.status).collect();
            assert_eq!(statuses, [200, 204, 200, 503, 200], "{piece}");
            assert_eq!(
                found.iter().map(|response| response.is_last).collect::<Vec<_>>(),
                [false, false, false, true, true]
            );
        }
        for wrong in [&b"nonsense\r\n\r\n"[..], b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"] {
            assert!(ResponseReader::default().take(wrong, true).is_err());
        }
    }
}
