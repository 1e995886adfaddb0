//! The protocol of the agent's socket (docs/SOCKET.md): frames of a length, a version, a kind and a body.

use std::fmt;

use facts::task::TaskSource;
use facts::task::rounds::{RoundTables, Scope};
use facts::unit::Nanos;
use facts::varint;

/// The version of the protocol.
pub const VERSION: u8 = 1;
/// Bytes of a request, at most.
pub const MAX_REQUEST_BYTES: usize = 64;
/// Bytes of a reply, at most.
pub const MAX_REPLY_BYTES: usize = 64 << 20;

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// All tasks that the client may see, and then what changes with each tick.
    Tasks,
    /// The costs of the agent and what it records.
    Status,
}

/// A reply of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The first reply of a connection.
    Hello(Hello),
    /// A round of tasks.
    Round {
        /// It has all tasks.
        is_whole: bool,
        /// One round.
        tables: RoundTables,
    },
    /// Lines of `name value`.
    Status(String),
    /// The request cannot be answered; the connection is closed.
    Refused(String),
}

/// The properties of the agent that a client should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The time between two ticks.
    pub interval: Nanos,
    /// Whose tasks this client may see.
    pub scope: Scope,
    /// Where the agent's figures come from.
    pub source: TaskSource,
    /// True if the kernel counts delays; `None` if that is not known.
    pub is_accounting_on: Option<bool>,
}

/// Bytes that are no frame of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// A frame that is longer than it may be.
    TooLong,
    /// Another version.
    Version(u8),
    /// Something else.
    Malformed,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the frame is too long"),
            Self::Version(version) => {
                write!(f, "version {version} of the protocol is not known, {VERSION} is")
            }
            Self::Malformed => f.write_str("the frame is malformed"),
        }
    }
}

impl std::error::Error for ProtocolError {}

const TASKS: u8 = 1;
const STATUS: u8 = 2;
const HELLO: u8 = 1;
const ROUND: u8 = 2;
const STATUS_REPLY: u8 = 3;
const REFUSED: u8 = 4;

impl Request {
    /// As a frame.
    pub fn encode(self) -> Vec<u8> {
        let kind = match self {
            Self::Tasks => TASKS,
            Self::Status => STATUS,
        };
        frame(kind, &[])
    }

    /// Takes a frame off the front of what was received; `None` if it is not whole yet.
    ///
    /// # Errors
    /// If the bytes are no request.
    pub fn take(received: &mut Vec<u8>) -> Result<Option<Self>, ProtocolError> {
        // What stands after the kind is for later versions, and ignored.
        let Some((kind, _)) = take(received, MAX_REQUEST_BYTES)? else { return Ok(None) };
        match kind {
            TASKS => Ok(Some(Self::Tasks)),
            STATUS => Ok(Some(Self::Status)),
            _ => Err(ProtocolError::Malformed),
        }
    }
}

impl Reply {
    /// As a frame.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => {
                let mut body = Vec::new();
                varint::push(&mut body, hello.interval.0);
                varint::push(
                    &mut body,
                    match hello.scope {
                        Scope::All => 0,
                        Scope::User(uid) => u64::from(uid) + 1,
                    },
                );
                varint::push(
                    &mut body,
                    match hello.is_accounting_on {
                        None => 0,
                        Some(false) => 1,
                        Some(true) => 2,
                    },
                );
                body.extend(hello.source.name().as_bytes());
                frame(HELLO, &body)
            }
            Self::Round { is_whole, tables } => {
                let mut body = vec![u8::from(*is_whole)];
                body.extend(tables.encode());
                frame(ROUND, &body)
            }
            Self::Status(text) => frame(STATUS_REPLY, text.as_bytes()),
            Self::Refused(text) => frame(REFUSED, text.as_bytes()),
        }
    }

    /// Takes a frame off the front of what was received; `None` if it is not whole yet.
    ///
    /// # Errors
    /// If the bytes are no reply.
    pub fn take(received: &mut Vec<u8>) -> Result<Option<Self>, ProtocolError> {
        let Some((kind, body)) = take(received, MAX_REPLY_BYTES)? else { return Ok(None) };
        Self::decode(kind, &body).map(Some).ok_or(ProtocolError::Malformed)
    }

    fn decode(kind: u8, mut body: &[u8]) -> Option<Self> {
        let text = || String::from_utf8(body.to_vec()).ok();
        match kind {
            HELLO => {
                let bytes = &mut body;
                let interval = Nanos(varint::take(bytes)?);
                let scope = match varint::take(bytes)? {
                    0 => Scope::All,
                    number => Scope::User(u32::try_from(number - 1).ok()?),
                };
                let is_accounting_on = match varint::take(bytes)? {
                    1 => Some(false),
                    2 => Some(true),
                    _ => None,
                };
                let name = std::str::from_utf8(bytes).ok()?;
                let source = TaskSource::from_name(name)?;
                Some(Self::Hello(Hello { interval, scope, source, is_accounting_on }))
            }
            ROUND => {
                let (is_whole, tables) = body.split_first()?;
                let tables = RoundTables::decode(tables).filter(|tables| tables.rounds.rows() == 1)?;
                Some(Self::Round { is_whole: *is_whole == 1, tables })
            }
            STATUS_REPLY => text().map(Self::Status),
            REFUSED => text().map(Self::Refused),
            _ => None,
        }
    }
}

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 2).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(body.len() + 6);
    frame.extend(length.to_le_bytes());
    frame.extend([VERSION, kind]);
    frame.extend(body);
    frame
}

/// The kind and the body of the first frame.
fn take(received: &mut Vec<u8>, most_bytes: usize) -> Result<Option<(u8, Vec<u8>)>, ProtocolError> {
    let Some(length) = received.first_chunk() else { return Ok(None) };
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > most_bytes {
        return Err(ProtocolError::TooLong);
    }
    let Some(content) = received.get(4..4 + length) else { return Ok(None) };
    let (version, kind, body) = match content {
        [version, kind, body @ ..] => (*version, *kind, body.to_vec()),
        _ => return Err(ProtocolError::Malformed),
    };
    received.drain(..4 + length);
    match version {
        VERSION => Ok(Some((kind, body))),
        other => Err(ProtocolError::Version(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::task::rounds::RoundEncoder;
    use facts::task::store::TaskStore;

    #[test]
    fn frames_are_taken_one_by_one() {
        let store = TaskStore::default();
        let tables = RoundEncoder::default().encode(&store, 0, true, Scope::All);
        let hello = Hello {
            interval: Nanos::SECOND,
            scope: Scope::User(1000),
            source: TaskSource::Bpf,
            is_accounting_on: Some(true),
        };
        let replies = [
            Reply::Hello(hello),
            Reply::Hello(Hello {
                scope: Scope::All,
                source: TaskSource::Procfs,
                is_accounting_on: None,
                ..hello
            }),
            Reply::Round { is_whole: true, tables },
            Reply::Status("a 1\n".to_owned()),
            Reply::Refused("no".to_owned()),
        ];
        let bytes: Vec<u8> = replies.iter().flat_map(Reply::encode).collect();
        let (mut received, mut found) = (Vec::new(), Vec::new());
        for byte in bytes {
            received.push(byte);
            found.extend(Reply::take(&mut received).unwrap());
        }
        assert_eq!(found, replies);
        let mut received: Vec<u8> =
            [Request::Tasks, Request::Status].into_iter().flat_map(Request::encode).collect();
        assert_eq!(Request::take(&mut received), Ok(Some(Request::Tasks)));
        assert_eq!(Request::take(&mut received), Ok(Some(Request::Status)));
        assert_eq!(Request::take(&mut received), Ok(None));
    }

    #[test]
    fn other_bytes_are_refused() {
        for (bytes, error) in [
            (vec![255, 255, 255, 255], ProtocolError::TooLong),
            (vec![65, 0, 0, 0], ProtocolError::TooLong),
            (vec![1, 0, 0, 0, 1], ProtocolError::Malformed),
            (vec![2, 0, 0, 0, 2, 1], ProtocolError::Version(2)),
            (vec![2, 0, 0, 0, 1, 77], ProtocolError::Malformed),
        ] {
            assert_eq!(Request::take(&mut bytes.clone()), Err(error), "{bytes:?}");
        }
    }
}
