//! One client of the socket.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use facts::task::rounds::Scope;
use sampling::agent_protocol::{MAX_REQUEST_BYTES, Reply, Request};

/// Bytes that wait for a client that does not read; beyond this it is closed. One frame is always taken.
const MAX_QUEUED_BYTES: usize = 4 << 20;
/// Requests of a client that are answered at one wake-up.
const REQUESTS_AT_A_TIME: usize = 8;

/// How far a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has not asked for tasks.
    Idle,
    /// It waits for all of them.
    Waiting,
    /// It gets every round.
    Following,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) stream: UnixStream,
    pub(super) uid: u32,
    pub(super) scope: Scope,
    pub(super) stage: Stage,
    pub(super) wants_status: bool,
    received: Vec<u8>,
    queue: VecDeque<Arc<[u8]>>,
    /// Bytes of the queue's first frame that are sent, and those of all that are not.
    sent: usize,
    queued_bytes: usize,
    /// Closed when everything is sent.
    is_refused: bool,
}

/// Why a client is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;

impl Client {
    pub(super) fn new(stream: UnixStream, uid: u32, scope: Scope) -> Self {
        Self {
            stream,
            uid,
            scope,
            stage: Stage::Idle,
            wants_status: false,
            received: Vec::new(),
            queue: VecDeque::new(),
            sent: 0,
            queued_bytes: 0,
            is_refused: false,
        }
    }

    /// Reads requests, a few at a time.
    pub(super) fn read(&mut self) -> Result<Vec<Request>, Closed> {
        let mut requests = Vec::new();
        let mut bytes = [0; 4 * MAX_REQUEST_BYTES];
        while requests.len() < REQUESTS_AT_A_TIME && !self.is_refused {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(Closed),
                Ok(length) => self.received.extend(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Closed),
            }
            loop {
                match Request::take(&mut self.received) {
                    Ok(Some(request)) => requests.push(request),
                    Ok(None) => break,
                    Err(error) => {
                        self.refuse(&error.to_string())?;
                        break;
                    }
                }
            }
        }
        Ok(requests)
    }

    /// Says why nothing more is answered; the client is closed when it has read that.
    pub(super) fn refuse(&mut self, why: &str) -> Result<(), Closed> {
        self.is_refused = true;
        self.queue(Reply::Refused(why.to_owned()).encode().into())
    }

    /// Sends a frame after those that wait.
    pub(super) fn queue(&mut self, frame: Arc<[u8]>) -> Result<(), Closed> {
        if !self.queue.is_empty() && self.queued_bytes + frame.len() > MAX_QUEUED_BYTES {
            return Err(Closed);
        }
        self.queued_bytes += frame.len();
        self.queue.push_back(frame);
        self.write()
    }

    /// Sends as much as there is room for.
    pub(super) fn write(&mut self) -> Result<(), Closed> {
        while let Some(frame) = self.queue.front() {
            match self.stream.write(&frame[self.sent..]) {
                Ok(length) => {
                    self.sent += length;
                    self.queued_bytes -= length;
                    if self.sent == frame.len() {
                        self.queue.pop_front();
                        self.sent = 0;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Closed),
            }
        }
        if self.is_refused { Err(Closed) } else { Ok(()) }
    }
}
