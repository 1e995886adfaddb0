//! Answers of a control server.

use std::sync::Arc;

use facts::unit::Nanos;

use super::fault::{Dice, Fault, Faults};
use super::http;
use super::log::{Entry, Log};
use super::replies::{Replies, Reply};
use super::request::{self, Begun, Request};
use crate::http_body::BodyReader;

/// A request's head may be so long.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// The kind of server, and what goes wrong with it.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) kind: Kind,
    /// Where requests are written to.
    pub(crate) log: Option<Log>,
    pub(crate) faults: Faults,
}

/// The kind of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// The request, sent back.
    Echo,
    /// One answer to every HTTP request.
    Http(http::Answer),
    /// The replies of a file.
    Canned(Replies),
}

/// The next step of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Read,
    Write,
    WriteAndEnd,
    Reset,
    Wait(Nanos),
}

/// An answer that was appended.
struct Answered {
    is_last: bool,
    /// What is logged of it.
    entry: Option<Entry>,
    /// That of its own, instead of one by chance.
    fault: Option<Fault>,
}

/// One connection's.
#[derive(Debug)]
pub(super) struct Conversation {
    answers: Arc<Answers>,
    received: Vec<u8>,
    /// The number of received bytes that have been answered.
    answered: usize,
    /// A request whose body is still to come.
    coming: Option<(Request, BodyReader)>,
    dice: Dice,
    /// An answer that is held back until then; whether it is the last.
    held: Option<(Nanos, Vec<u8>, bool)>,
    /// The address of the other end, for the log.
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
            coming: None,
            dice: Dice::new(seed),
            held: None,
            address,
            answers_given: 0,
            faults_made: 0,
        }
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        // What was answered makes room, all at once.
        self.received.drain(..self.answered);
        self.answered = 0;
        self.received.extend_from_slice(bytes);
    }

    /// Returns the next step. Appends an answer that is due to `output`.
    pub(super) fn next(&mut self, output: &mut Vec<u8>, now: Nanos) -> Next {
        if let Some((until, answer, is_last)) = self.held.take() {
            if until > now {
                self.held = Some((until, answer, is_last));
                return Next::Wait(until);
            }
            output.extend_from_slice(&answer);
            return if is_last { Next::WriteAndEnd } else { Next::Write };
        }
        let start = output.len();
        let Some(Answered { is_last, entry, fault }) = self.answer(output) else {
            let is_endless = self.received.len() - self.answered > MAX_HEAD_BYTES;
            return if is_endless { Next::Reset } else { Next::Read };
        };
        let fault = fault.or_else(|| self.answers.faults.roll(&mut self.dice));
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
                self.held = Some((now + delay, output.split_off(start), is_last));
                Next::Wait(now + delay)
            }
            None if is_last => Next::WriteAndEnd,
            None => Next::Write,
        }
    }

    /// Appends the answer to what was received, if that is whole.
    fn answer(&mut self, output: &mut Vec<u8>) -> Option<Answered> {
        let waiting = &self.received[self.answered..];
        let answers = &*self.answers;
        match &answers.kind {
            Kind::Echo if waiting.is_empty() => None,
            Kind::Echo => {
                output.extend_from_slice(waiting);
                self.answered = self.received.len();
                Some(Answered { is_last: false, entry: None, fault: None })
            }
            Kind::Canned(replies) if !replies.is_http() => {
                let end = waiting.iter().position(|byte| *byte == b'\n')?;
                let line = String::from_utf8_lossy(waiting[..end].trim_ascii_end());
                let reply = replies.to_line(&line);
                let entry = answers.log.is_some().then(|| Entry::line(&line, reply.is_some()));
                self.answered += end + 1;
                output.extend_from_slice(reply.map_or("", |reply| &reply.text).as_bytes());
                // Where there is no rule for a request, the conversation ends.
                Some(Answered { is_last: reply.is_none(), entry, fault: reply.and_then(Reply::fault) })
            }
            Kind::Http(_) | Kind::Canned(_) => self.answer_request(output),
        }
    }

    /// Appends the answer to the next request, when its body has come.
    fn answer_request(&mut self, output: &mut Vec<u8>) -> Option<Answered> {
        let answers = &*self.answers;
        let log = answers.log.as_ref();
        let (mut request, mut body) = match self.coming.take() {
            Some(coming) => coming,
            None => {
                let waiting = &self.received[self.answered..];
                if waiting.is_empty() {
                    return None;
                }
                let mut headers = Vec::new();
                let with_headers = log.is_some_and(Log::has_contents);
                let begun = request::read_head(waiting, |name, value| {
                    if with_headers {
                        headers.push((name.to_owned(), String::from_utf8_lossy(value).into_owned()));
                    }
                });
                let head = match begun {
                    Begun::Partial => return None,
                    Begun::Wrong(status) => {
                        http::push_response(output, status, &[], b"", false, true);
                        self.answered = self.received.len();
                        let nameless =
                            Request { method: "–".into(), path: "–".into(), ..Request::default() };
                        let entry = log.map(|_| Entry::Request { request: nameless, status });
                        return Some(Answered { is_last: true, entry, fault: None });
                    }
                    Begun::Head(head) => head,
                };
                self.answered += head.length;
                // Most requests are a head, and no more of them is needed.
                if head.body.is_whole() && log.is_none() {
                    let (_, fault) = push_answer(answers, head.method, head.path, head.is_last, output);
                    return Some(Answered { is_last: head.is_last, entry: None, fault });
                }
                if head.expects_continue && self.answered == self.received.len() {
                    output.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                (Request { headers, ..Request::new(&head) }, head.body)
            }
        };
        let is_kept = log.is_some_and(Log::has_contents);
        let taken = body.take(&self.received[self.answered..], |bytes| request.add(bytes, is_kept));
        let (status, fault) = match taken {
            Ok(taken) => {
                self.answered += taken;
                if !body.is_whole() {
                    self.coming = Some((request, body));
                    return None;
                }
                push_answer(answers, &request.method, &request.path, request.is_last, output)
            }
            Err(_) => {
                http::push_response(output, 400, &[], b"", false, true);
                self.answered = self.received.len();
                request.is_last = true;
                (400, None)
            }
        };
        let is_last = request.is_last;
        Some(Answered { is_last, entry: log.map(|_| Entry::Request { request, status }), fault })
    }
}

/// Appends the answer to a request; its status, and what happens to it.
fn push_answer(
    answers: &Answers,
    method: &str,
    path: &str,
    is_last: bool,
    output: &mut Vec<u8>,
) -> (u16, Option<Fault>) {
    let is_head = method == "HEAD";
    match &answers.kind {
        Kind::Canned(replies) => match replies.to_request(method, path) {
            Some(reply) => {
                let (status, body) = (reply.status.unwrap_or(200), reply.body.as_bytes());
                http::push_response(output, status, &reply.headers(), body, is_head, is_last);
                (status, reply.fault())
            }
            None => {
                http::push_response(output, 404, &[], b"", is_head, is_last);
                (404, None)
            }
        },
        Kind::Http(answer) => {
            output.extend_from_slice(if is_last { &answer.last } else { &answer.kept_alive });
            (answer.status, None)
        }
        Kind::Echo => (500, None),
    }
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
        assert_eq!(said(&mut server, b"ngth: 5\r\n\r\nab"), (Next::Read, String::new()));
        // The rest of the body, and the next request.
        let (next, text) = said(&mut server, b"cdeGET /x HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert_eq!(
            (next, text.starts_with("HTTP/1.1 204 No Content\r\nConnection: keep-alive")),
            (Next::Write, true)
        );
        assert_eq!(said(&mut server, b"").0, Next::WriteAndEnd);
        let mut server = conversation(Kind::Http(http::Answer::new(204)), Vec::new());
        assert_eq!(said(&mut server, b"nonsense\r\n\r\n").0, Next::WriteAndEnd);
    }

    #[test]
    fn a_body_is_asked_for_and_waited_for() {
        let mut server = conversation(Kind::Http(http::Answer::new(200)), Vec::new());
        let head = b"PUT /c HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(said(&mut server, head), (Next::Read, "HTTP/1.1 100 Continue\r\n\r\n".to_owned()));
        assert_eq!(said(&mut server, b"3\r\nabc\r\n0\r"), (Next::Read, String::new()));
        let (next, text) = said(&mut server, b"\n\r\n");
        assert_eq!((next, text.starts_with("HTTP/1.1 200 OK")), (Next::Write, true));
        let head = b"PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5";
        assert_eq!(said(&mut server, head), (Next::Read, String::new()));
        let (next, text) = said(&mut server, b"y\r\n");
        assert_eq!((next, text.starts_with("HTTP/1.1 400 ")), (Next::WriteAndEnd, true));
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
        let answer = Kind::Http(http::Answer::new(204));
        let mut last = conversation(answer, vec![(1.0, Fault::Slow(Nanos(7)))]);
        said(&mut last, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert_eq!(last.next(&mut Vec::new(), Nanos(7)), Next::WriteAndEnd);
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
