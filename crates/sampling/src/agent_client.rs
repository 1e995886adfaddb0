//! Tasks by the agent's socket: what it reads anyway, and for users without privileges the delays of their own tasks.
//!
//! Memory, CPUs and the rest of the machine are read from the kernel by every command: a kept descriptor costs less than a question.
//! `whit run` does not ask: wait4(2) and exit records say more than a row that may be a second old.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use facts::task::rounds::{RoundDecoder, RoundSummary, RoundTables};
use facts::task::store::{TaskStore, is_same_start};
use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;
use probe::tasks::BetterRows;

use crate::agent_protocol::{Hello, Reply, Request};

/// The agent answers from memory, at the latest with its next tick.
const MAX_WAIT: Duration = Duration::from_secs(3);
const BYTES_AT_A_TIME: usize = 64 * 1024;
/// Ticks of which a reader that is slow may fall behind; the agent closes the connection sooner.
const MAX_ROUNDS: usize = 4096;

/// A connection to the agent.
#[derive(Debug)]
pub struct AgentClient {
    stream: UnixStream,
    received: Vec<u8>,
    hello: Hello,
    decoder: RoundDecoder,
    has_begun: bool,
}

impl AgentClient {
    /// Connects.
    ///
    /// # Errors
    /// If no agent listens there, or it does not answer.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(MAX_WAIT))?;
        stream.set_write_timeout(Some(MAX_WAIT))?;
        let mut received = Vec::new();
        let hello = match next_reply(&mut stream, &mut received)? {
            Reply::Hello(hello) => hello,
            reply => return Err(unexpected(reply)),
        };
        // The next tick may be as far away as its interval.
        let wait = Duration::from_nanos(hello.interval.0.saturating_mul(2)).max(MAX_WAIT);
        stream.set_read_timeout(Some(wait))?;
        Ok(Self { stream, received, hello, decoder: RoundDecoder::default(), has_begun: false })
    }

    /// Returns the agent's description of itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Returns the user of the agent.
    ///
    /// # Errors
    /// If the kernel does not say it.
    pub fn peer_uid(&self) -> io::Result<u32> {
        Ok(probe::sockets::peer(&self.stream)?.uid)
    }

    /// Lines of `name value`: what the agent costs and records.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn status(&mut self) -> io::Result<String> {
        self.stream.write_all(&Request::Status.encode())?;
        match next_reply(&mut self.stream, &mut self.received)? {
            Reply::Status(text) => Ok(text),
            reply => Err(unexpected(reply)),
        }
    }

    /// Fills the store with what happened since the last call, as one round; the first one has all tasks. Waits for the agent's next
    /// tick if there was none since.
    ///
    /// # Errors
    /// If the agent is gone.
    pub fn sample(&mut self, store: &mut TaskStore) -> io::Result<&RoundSummary> {
        self.update(store, true)?;
        Ok(self.decoder.summary())
    }

    /// Reads a round without waiting, except for the first one. Returns whether there was a new one.
    ///
    /// # Errors
    /// If the agent is gone.
    pub fn poll(&mut self, store: &mut TaskStore) -> io::Result<bool> {
        self.update(store, !self.has_begun)
    }

    fn update(&mut self, store: &mut TaskStore, mut is_waiting: bool) -> io::Result<bool> {
        if !self.has_begun {
            self.stream.write_all(&Request::Tasks.encode())?;
        }
        let mut tables = RoundTables::default();
        let mut is_whole = false;
        while tables.rounds.rows() < MAX_ROUNDS {
            let reply = match std::mem::take(&mut is_waiting) {
                true => Some(next_reply(&mut self.stream, &mut self.received)?),
                false => self.reply_that_is_there()?,
            };
            match reply {
                None => break,
                Some(Reply::Round { is_whole: has_all, tables: round }) => {
                    if has_all {
                        tables = RoundTables::default();
                        is_whole = true;
                    }
                    tables.append(&round);
                }
                Some(reply) => return Err(unexpected(reply)),
            }
        }
        let rounds = tables.rounds.rows();
        if rounds > 0 {
            self.decoder.fill(&tables.merge(std::iter::once(0..rounds)), 0, is_whole, store);
            self.has_begun = true;
        }
        Ok(rounds > 0)
    }

    fn reply_that_is_there(&mut self) -> io::Result<Option<Reply>> {
        if let Some(reply) = take(&mut self.received)? {
            return Ok(Some(reply));
        }
        self.stream.set_nonblocking(true)?;
        let read = receive(&mut self.stream, &mut self.received);
        self.stream.set_nonblocking(false)?;
        match read {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
            // The rest of a frame comes at once.
            Ok(()) => next_reply(&mut self.stream, &mut self.received).map(Some),
        }
    }
}

/// Rows of the agent, for a reader of /proc.
#[derive(Debug)]
pub struct AgentRows {
    /// `None` once it is gone.
    client: Option<AgentClient>,
    store: TaskStore,
    polled_at: Nanos,
}

/// A reading of all tasks asks once.
const BETWEEN_POLLS: Nanos = Nanos(50_000_000);

impl AgentRows {
    /// Creates the rows of the tasks that this client may see.
    pub fn new(client: AgentClient) -> Self {
        Self { client: Some(client), store: TaskStore::default(), polled_at: Nanos(0) }
    }
}

impl BetterRows for AgentRows {
    fn row(&mut self, key: TaskKey) -> Option<TaskRow> {
        let client = self.client.as_mut()?;
        let now = probe::clock_now().boottime;
        if now.saturating_sub(self.polled_at) >= BETWEEN_POLLS {
            self.polled_at = now;
            if client.poll(&mut self.store).is_err() {
                // What it has sent gets older; /proc is right.
                self.client = None;
                return None;
            }
        }
        let row = self.store.row(key.pid)?;
        // /proc rounds the start to ticks.
        let is_same = is_same_start(row.key.start, key.start);
        let wall = self.store.clock().boottime.saturating_sub(row.key.start);
        is_same.then_some(TaskRow { key, wall, ..*row })
    }

    fn contains(&self, pid: u32) -> bool {
        self.client.is_some() && self.store.row(pid).is_some()
    }
}

fn take(received: &mut Vec<u8>) -> io::Result<Option<Reply>> {
    Reply::take(received).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn next_reply(stream: &mut UnixStream, received: &mut Vec<u8>) -> io::Result<Reply> {
    loop {
        if let Some(reply) = take(received)? {
            return Ok(reply);
        }
        receive(stream, received)?;
    }
}

fn receive(stream: &mut UnixStream, received: &mut Vec<u8>) -> io::Result<()> {
    let start = received.len();
    received.resize(start + BYTES_AT_A_TIME, 0);
    let read = loop {
        match stream.read(&mut received[start..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    received.truncate(start + *read.as_ref().unwrap_or(&0));
    match read? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

fn unexpected(reply: Reply) -> io::Error {
    match reply {
        Reply::Refused(why) => io::Error::other(why),
        _ => io::Error::new(ErrorKind::InvalidData, "an unexpected reply"),
    }
}
