//! What a control server says in return.

use std::sync::Arc;

use facts::unit::Nanos;

use super::fault::{Dice, Fault, Faults};
use super::http;
use super::log::{Entry, Log};
use super::replies::Replies;

/// A request's head may be so long.
const MOST_HEAD_BYTES: usize = 64 << 10;
const HEADERS: usize = 64;

/// The kind of server, and what goes wrong with it.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) kind: Kind,
    /// Where requests are written to.
    pub(crate) log: Option<Log>,
    pub(crate) faults: Faults,
}

/// What is said.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// The same again.
    Echo,
    /// The same, to every request of HTTP.
    Http(http::Answer),
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
    /// What of it has been answered.
    answered: usize,
    /// Bytes of the request's body that are still to be discarded.
    skip: u64,
    dice: Dice,
    /// An answer that is held back until then.
    held: Option<(Nanos, Vec<u8>)>,
    /// Who is at the other end, for the log.
    address: String,
    /// Answers, and how many of them something was done to.
    pub(super) answers_given: u64,
    pub(super) faults_made: u64,
}

impl Conversation {
    pub(super) fn new(answers: &Arc<Answers>, seed: u64, address: String) -> Self {
        Self {
            answers: Arc::clone(answers),
            received: Vec::new(),
            answered: 0,
            skip: 0,
            dice: Dice::new(seed),
            held: None,
            address,
            answers_given: 0,
            faults_made: 0,
        }
    }

    pub(super) fn receive(&mut self, mut bytes: &[u8]) {
        // What was answered makes room, all at once.
        self.received.drain(..self.answered);
        self.answered = 0;
        let skipped = self.skip.min(bytes.len() as u64);
        self.skip -= skipped;
        bytes = &bytes[skipped as usize..];
        self.received.extend_from_slice(bytes);
    }

    /// What has to be done now; an answer that is due is appended to `output`.
    pub(super) fn next(&mut self, output: &mut Vec<u8>, now: Nanos) -> Next {
        if let Some((until, answer)) = self.held.take() {
            if until > now {
                self.held = Some((until, answer));
                return Next::Wait(until);
            }
            output.extend_from_slice(&answer);
            return Next::Write;
        }
        let start = output.len();
        let Some((is_last, entry)) = self.answer(output) else {
            let is_endless = self.received.len() - self.answered > MOST_HEAD_BYTES;
            return if is_endless { Next::Reset } else { Next::Read };
        };
        let fault = self.answers.faults.roll(&mut self.dice);
        self.answers_given += 1;
        self.faults_made += u64::from(fault.is_some());
        let whole = output.len() - start;
        let sent = match fault {
            Some(Fault::Reset) => 0,
            Some(Fault::Half) => whole / 2,
            Some(Fault::Slow(_)) | None => whole,
        };
        if let (Some(log), Some(entry)) = (&self.answers.log, entry) {
            log.write(&self.address, &entry, sent as u64, fault);
        }
        match fault {
            Some(Fault::Reset) => {
                output.truncate(start);
                Next::Reset
            }
            Some(Fault::Half) => {
                output.truncate(start + (output.len() - start) / 2);
                Next::WriteAndEnd
            }
            Some(Fault::Slow(delay)) => {
                self.held = Some((now + delay, output.split_off(start)));
                Next::Wait(now + delay)
            }
            None if is_last => Next::WriteAndEnd,
            None => Next::Write,
        }
    }

    /// Appends the answer to what was received, if that is whole. Whether it is the last, and what is logged of it.
    fn answer(&mut self, output: &mut Vec<u8>) -> Option<(bool, Option<Entry>)> {
        let waiting = &self.received[self.answered..];
        let answers = &*self.answers;
        match &answers.kind {
            Kind::Echo if waiting.is_empty() => None,
            Kind::Echo => {
                output.extend_from_slice(waiting);
                self.answered = self.received.len();
                Some((false, None))
            }
            Kind::Canned(replies) if !replies.is_http() => {
                let end = waiting.iter().position(|byte| *byte == b'\n')?;
                let line = String::from_utf8_lossy(waiting[..end].trim_ascii_end());
                let reply = replies.to_line(&line);
                let entry = answers.log.is_some().then(|| Entry::line(&line, reply.is_some()));
                self.answered += end + 1;
                output.extend_from_slice(reply.map_or("", |reply| &reply.text).as_bytes());
                // Where there is no rule for a request, the conversation ends.
                Some((reply.is_none(), entry))
            }
            Kind::Http(_) | Kind::Canned(_) => {
                if waiting.is_empty() {
                    return None;
                }
                let answered = answer_http(waiting, answers, output)?;
                self.skip = answered.skip;
                self.answered += answered.taken;
                Some((answered.is_last, answered.entry))
            }
        }
    }
}

/// What became of a request.
struct AnsweredRequest {
    /// Bytes that it had.
    taken: usize,
    /// Bytes of its body that are still to come.
    skip: u64,
    is_last: bool,
    entry: Option<Entry>,
}

/// Appends the answer to the request that bytes begin with; `None` if it is not whole.
fn answer_http(bytes: &[u8], answers: &Answers, output: &mut Vec<u8>) -> Option<AnsweredRequest> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return None,
        Err(_) => {
            http::push_response(output, 400, &[], b"", false, true);
            let entry = answers.log.is_some().then(|| Entry::request("–", "–", 400, 0));
            return Some(AnsweredRequest { taken: bytes.len(), skip: 0, is_last: true, entry });
        }
    };
    let (mut body, mut connection, mut is_coded) = (0, "", false);
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let value = || std::str::from_utf8(header.value).unwrap_or_default().trim();
        match header.name.len() {
            14 if is("content-length") => body = value().parse().unwrap_or(0u64),
            10 if is("connection") => connection = value(),
            17 if is("transfer-encoding") => is_coded = true,
            _ => {}
        }
    }
    let is_last = match request.version {
        Some(0) => !connection.eq_ignore_ascii_case("keep-alive"),
        _ => connection.eq_ignore_ascii_case("close") || is_coded,
    };
    let (method, path) = (request.method.unwrap_or_default(), request.path.unwrap_or("/"));
    let is_head = method == "HEAD";
    let status = match &answers.kind {
        Kind::Canned(replies) => match replies.to_request(method, path) {
            Some(reply) => {
                let status = reply.status.unwrap_or(200);
                http::push_response(
                    output,
                    status,
                    &reply.headers(),
                    reply.body.as_bytes(),
                    is_head,
                    is_last,
                );
                status
            }
            None => {
                http::push_response(output, 404, &[], b"", is_head, is_last);
                404
            }
        },
        Kind::Http(answer) => {
            output.extend_from_slice(if is_last { &answer.last } else { &answer.kept_alive });
            answer.status
        }
        Kind::Echo => 500,
    };
    let entry = answers.log.is_some().then(|| Entry::request(method, path, status, body));
    let there = (bytes.len() - head) as u64;
    let taken = head + body.min(there) as usize;
    Some(AnsweredRequest { taken, skip: body.saturating_sub(there), is_last, entry })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(kind: Kind, faults: Vec<(f64, Fault)>) -> Conversation {
        Conversation::new(&Arc::new(Answers { kind, log: None, faults: Faults(faults) }), 0, String::new())
    }

    fn said(conversation: &mut Conversation, received: &[u8]) -> (Next, String) {
        conversation.receive(received);
        let mut output = Vec::new();
        let next = conversation.next(&mut output, Nanos(0));
        (next, String::from_utf8(output).unwrap())
    }

    #[test]
    fn requests_are_answered_however_they_are_cut() {
        let mut server = conversation(Kind::Http(http::Answer::new(204)), Vec::new());
        assert_eq!(said(&mut server, b"POST / HTTP/1.1\r\nContent-Le"), (Next::Read, String::new()));
        let (next, text) = said(&mut server, b"ngth: 5\r\n\r\nab");
        assert_eq!(
            (next, text.starts_with("HTTP/1.1 204 No Content\r\nConnection: keep-alive")),
            (Next::Write, true)
        );
        // The rest of the body, and the next request.
        let (next, text) = said(&mut server, b"cdeGET /x HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert_eq!((next, text.is_empty()), (Next::WriteAndEnd, false));
        let mut server = conversation(Kind::Http(http::Answer::new(204)), Vec::new());
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

    #[test]
    fn pipelined_requests_are_all_answered() {
        let mut server = conversation(Kind::Http(http::Answer::new(204)), Vec::new());
        server.receive(&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
        let mut output = Vec::new();
        assert_eq!(
            [(); 4].map(|()| server.next(&mut output, Nanos(0))),
            [Next::Write, Next::Write, Next::Write, Next::Read]
        );
        assert_eq!(String::from_utf8(output).unwrap().matches("204 No Content").count(), 3);
    }

    #[test]
    fn replies_have_methods_headers_and_lengths() {
        let replies = Replies::parse(
            "[[reply]]\npath = \"/a\"\nmethod = \"POST\"\nstatus = 201\n[[reply]]\npath = \"/a\"\nbody = \"{}\"\n\
             content_type = \"application/json\"\nheaders = { X-Whit = \"1\" }\n",
        )
        .unwrap();
        let mut server = conversation(Kind::Canned(replies), Vec::new());
        assert!(
            said(&mut server, b"POST /a HTTP/1.1\r\n\r\n")
                .1
                .starts_with("HTTP/1.1 201 Created\r\nContent-Length: 0")
        );
        let (_, text) = said(&mut server, b"GET /a HTTP/1.1\r\n\r\n");
        assert!(
            text.contains("Content-Type: application/json\r\n") && text.contains("X-Whit: 1\r\n"),
            "{text}"
        );
        assert!(text.contains("Content-Length: 2\r\n") && text.ends_with("\r\n\r\n{}"), "{text}");
        // The length of what GET would have got, and nothing of it.
        let (_, text) = said(&mut server, b"HEAD /a HTTP/1.1\r\n\r\n");
        assert!(text.contains("Content-Length: 2\r\n") && text.ends_with("\r\n\r\n"), "{text}");
    }
}
