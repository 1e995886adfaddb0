//! The server's end: starts the inspector, asks, and takes what it answers.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use facts::task::rounds::Scope;
use facts::unit::Nanos;
use probe::background_job::Notifier;
use probe::spawn::{Command, Group, own_program};
use serde_json::Value;
use service::frames::{push, take};

use super::{Answer, LONGEST, MAX_BYTES, Question};

/// On a loaded machine the inspector itself may have to wait.
const TIMEOUT: Duration = LONGEST.saturating_mul(3);

/// The inspector, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Inspector {
    channel: Mutex<Channel>,
    /// Notified when it is gone: only a server with privileges can start another one.
    lost: Notifier,
}

#[derive(Debug)]
struct Channel {
    socket: UnixStream,
    /// What was received and is not whole yet.
    received: Vec<u8>,
    /// That of the last question.
    id: u64,
}

/// What is known of a process.
#[derive(Debug)]
pub(crate) struct Inspected {
    /// CPU time that it took.
    pub(crate) cpu: Nanos,
    /// An [`Outcome`](super::Outcome) as JSON.
    pub(crate) outcome: Value,
}

impl Inspector {
    /// Starts it, with the privileges of this process.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(lost: Notifier) -> io::Result<Self> {
        let (socket, other) = UnixStream::pair()?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        socket.set_write_timeout(Some(TIMEOUT))?;
        let command = Command {
            words: vec![own_program(), "agent".into(), "inspector".into()],
            streams: [Some(other.as_fd()), None, None],
            // What the terminal sends ends the agent, which ends it.
            group: Group::Session,
            dies_with_parent: true,
            ..Command::default()
        };
        command.start()?;
        Ok(Self { channel: Mutex::new(Channel { socket, received: Vec::new(), id: 0 }), lost })
    }

    /// Looks at a process for those who see the tasks of a scope. It may take seconds: not for the thread that serves.
    ///
    /// # Errors
    /// If the inspector does not answer, or is gone.
    pub(crate) fn inspect(&self, pid: u32, scope: Scope) -> io::Result<Inspected> {
        let uid = match scope {
            Scope::All => None,
            Scope::User(uid) => Some(uid),
        };
        let inspected = self.channel.lock().unwrap_or_else(PoisonError::into_inner).ask(pid, uid);
        if inspected.as_ref().is_err_and(|error| !matches!(error.kind(), io::ErrorKind::WouldBlock)) {
            self.lost.notify();
        }
        inspected
    }
}

impl Channel {
    fn ask(&mut self, pid: u32, uid: Option<u32>) -> io::Result<Inspected> {
        let mut question = Vec::new();
        self.id += 1;
        push(&Question { id: self.id, pid, uid }, &[], &mut question);
        self.socket.write_all(&question)?;
        let mut chunk = [0; 16 * 1024];
        loop {
            while let Some((Answer { id, cpu_ns }, body, length)) =
                take(&self.received, MAX_BYTES + chunk.len())?
            {
                let outcome = serde_json::from_slice(body);
                self.received.drain(..length);
                // That to a question before came too late.
                if id == self.id {
                    return Ok(Inspected { cpu: Nanos(cpu_ns), outcome: outcome? });
                }
            }
            match self.socket.read(&mut chunk)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => self.received.extend_from_slice(&chunk[..length]),
            }
        }
    }
}
