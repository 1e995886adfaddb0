//! What a control server says in return.

use std::sync::Arc;

use facts::unit::Nanos;

use super::fault::{Dice, Fault, Faults};
use super::replies::{Replies, Reply};

/// A request's head may be so long.
const MOST_HEAD_BYTES: usize = 64 << 10;
const HEADERS: usize = 64;

/// The kind of server, and what goes wrong with it.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) kind: Kind,
    pub(crate) faults: Faults,
}

/// What is said.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// The same again.
    Echo,
    /// This status, to every request of HTTP.
    Http(u16),
    /// What the file says.
    Canned(Replies),
}

/// What a connection does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Read,
    Write,
    WriteAndEnd,
    Reset,
    Wait(Nanos),
}

/// One connection's.
#[derive(Debug)]
pub(super) struct Conversation {
    answers: Arc<Answers>,
    received: Vec<u8>,
    /// Bytes of the request's body that are still to be discarded.
    skip: u64,
    dice: Dice,
    /// An answer that is held back until then.
    held: Option<(Nanos, Vec<u8>)>,
    /// Answers, and how many of them something was done to.
    pub(super) answers_given: u64,
    pub(super) faults_made: u64,
}

impl Conversation {
    pub(super) fn new(answers: &Arc<Answers>, seed: u64) -> Self {
        Self {
            answers: Arc::clone(answers),
            received: Vec::new(),
            skip: 0,
            dice: Dice::new(seed),
            held: None,
            answers_given: 0,
            faults_made: 0,
        }
    }

    pub(super) fn receive(&mut self, mut bytes: &[u8]) {
        let skipped = self.skip.min(bytes.len() as u64);
        self.skip -= skipped;
        bytes = &bytes[skipped as usize..];
        self.received.extend_from_slice(bytes);
    }

    /// What has to be done now; an answer that is due is in `output`.
    pub(super) fn next(&mut self, output: &mut Vec<u8>, now: Nanos) -> Next {
        if let Some((until, answer)) = self.held.take() {
            if until > now {
                self.held = Some((until, answer));
                return Next::Wait(until);
            }
            output.extend_from_slice(&answer);
            return Next::Write;
        }
        let (answer, is_last) = match self.answer() {
            Some(answer) => answer,
            None if self.received.len() > MOST_HEAD_BYTES => return Next::Reset,
            None => return Next::Read,
        };
        let fault = self.answers.faults.roll(&mut self.dice);
        self.answers_given += 1;
        self.faults_made += u64::from(fault.is_some());
        match fault {
            Some(Fault::Reset) => Next::Reset,
            Some(Fault::Half) => {
                output.extend_from_slice(&answer[..answer.len() / 2]);
                Next::WriteAndEnd
            }
            Some(Fault::Slow(delay)) => {
                self.held = Some((now + delay, answer));
                Next::Wait(now + delay)
            }
            None => {
                output.extend_from_slice(&answer);
                if is_last { Next::WriteAndEnd } else { Next::Write }
            }
        }
    }

    /// The answer to what was received, if that is whole, and whether it is the last.
    fn answer(&mut self) -> Option<(Vec<u8>, bool)> {
        let answers = Arc::clone(&self.answers);
        match &answers.kind {
            Kind::Echo if self.received.is_empty() => None,
            Kind::Echo => Some((std::mem::take(&mut self.received), false)),
            Kind::Http(status) => self.answer_http(|_| (*status, String::new())),
            Kind::Canned(replies) if replies.is_http() => {
                self.answer_http(|path| match replies.to_path(path) {
                    Some(Reply { status, body, .. }) => (status.unwrap_or(200), body.clone()),
                    None => (404, String::new()),
                })
            }
            Kind::Canned(replies) => {
                let end = self.received.iter().position(|byte| *byte == b'\n')?;
                let line: Vec<u8> = self.received.drain(..=end).collect();
                let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
                match replies.to_line(&line) {
                    Some(reply) => Some((reply.text.clone().into_bytes(), false)),
                    // There is no rule for this request.
                    None => Some((Vec::new(), true)),
                }
            }
        }
    }

    fn answer_http(&mut self, reply: impl Fn(&str) -> (u16, String)) -> Option<(Vec<u8>, bool)> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let head = match request.parse(&self.received) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return None,
            Err(_) => return Some((response(400, "", true), true)),
        };
        let header = |name: &str| {
            let found = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.and_then(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
        };
        let body: u64 = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let connection = header("connection").unwrap_or_default();
        let is_last = match request.version {
            Some(0) => !connection.eq_ignore_ascii_case("keep-alive"),
            _ => connection.eq_ignore_ascii_case("close") || header("transfer-encoding").is_some(),
        };
        let (status, text) = reply(request.path.unwrap_or("/"));
        let is_head = request.method == Some("HEAD");
        let answer = response(status, if is_head { "" } else { &text }, is_last);
        let there = (self.received.len() - head) as u64;
        self.skip = body.saturating_sub(there);
        self.received.drain(..head + body.min(there) as usize);
        Some((answer, is_last))
    }
}

fn response(status: u16, body: &str, is_last: bool) -> Vec<u8> {
    let reason = match status {
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
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    };
    let length = match status {
        // These have no body, and say nothing of its length (RFC 9110, 8.6).
        100..200 | 204 | 304 => String::new(),
        _ => format!("Content-Length: {}\r\n", body.len()),
    };
    let body = if length.is_empty() { "" } else { body };
    let connection = if is_last { "close" } else { "keep-alive" };
    format!("HTTP/1.1 {status} {reason}\r\n{length}Connection: {connection}\r\n\r\n{body}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(kind: Kind, faults: Vec<(f64, Fault)>) -> Conversation {
        Conversation::new(&Arc::new(Answers { kind, faults: Faults(faults) }), 0)
    }

    fn said(conversation: &mut Conversation, received: &[u8]) -> (Next, String) {
        conversation.receive(received);
        let mut output = Vec::new();
        let next = conversation.next(&mut output, Nanos(0));
        (next, String::from_utf8(output).unwrap())
    }

    #[test]
    fn requests_are_answered_however_they_are_cut() {
        let mut server = conversation(Kind::Http(204), Vec::new());
        assert_eq!(said(&mut server, b"POST / HTTP/1.1\r\nContent-Le"), (Next::Read, String::new()));
        let (next, text) = said(&mut server, b"ngth: 5\r\n\r\nab");
        assert_eq!(
            (next, text.starts_with("HTTP/1.1 204 No Content\r\nConnection: keep-alive")),
            (Next::Write, true)
        );
        // The rest of the body, and the next request.
        let (next, text) = said(&mut server, b"cdeGET /x HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert_eq!((next, text.is_empty()), (Next::WriteAndEnd, false));
        let mut server = conversation(Kind::Http(204), Vec::new());
        assert_eq!(said(&mut server, b"nonsense\r\n\r\n").0, Next::WriteAndEnd);
    }

    #[test]
    fn faults_take_the_place_of_answers() {
        let echo = |fault| conversation(Kind::Echo, vec![(1.0, fault)]);
        assert_eq!(said(&mut echo(Fault::Reset), b"four").0, Next::Reset);
        assert_eq!(said(&mut echo(Fault::Half), b"four"), (Next::WriteAndEnd, "fo".to_owned()));
        let mut slow = echo(Fault::Slow(Nanos(7)));
        assert_eq!(said(&mut slow, b"four"), (Next::Wait(Nanos(7)), String::new()));
        let mut output = Vec::new();
        assert_eq!(slow.next(&mut output, Nanos(7)), Next::Write);
        assert_eq!(output, b"four");
    }
}
