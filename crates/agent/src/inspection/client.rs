//! The server's end: starts the inspector, asks, and takes what it answers.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use facts::task::rounds::Scope;
use facts::unit::Nanos;
use probe::spawn::{Command, Group, own_program};
use service::frames::{push, take};

use super::{Answer, LONGEST, MOST_BYTES, Question};

/// On a loaded machine the inspector itself may have to wait.
const TIMEOUT: Duration = LONGEST.saturating_mul(3);

/// The inspector, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Inspector {
    /// `None` once it failed: only a server with privileges can start another one.
    socket: Mutex<Option<UnixStream>>,
}

/// What is known of a process.
#[derive(Debug)]
pub(crate) struct Inspected {
    /// CPU time that it took.
    pub(crate) cpu: Nanos,
    /// JSON; `None` if the process is gone, or could not be looked at in time.
    pub(crate) json: Option<Vec<u8>>,
}

impl Inspector {
    /// Starts it, with the privileges of this process.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start() -> io::Result<Self> {
        let (socket, other) = UnixStream::pair()?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        let command = Command {
            words: vec![own_program(), "agent".into(), "inspector".into()],
            streams: [Some(other.as_fd()), None, None],
            // What the terminal sends ends the agent, which ends it.
            group: Group::Session,
            dies_with_parent: true,
            ..Command::default()
        };
        command.start()?;
        Ok(Self { socket: Mutex::new(Some(socket)) })
    }

    /// Looks at a process for those who see the tasks of a scope. It may take seconds: not for the thread that serves.
    ///
    /// # Errors
    /// If the inspector is gone.
    pub(crate) fn inspect(&self, pid: u32, scope: Scope) -> io::Result<Inspected> {
        let uid = match scope {
            Scope::All => None,
            Scope::User(uid) => Some(uid),
        };
        let mut place = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = place.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let answer = ask(socket, Question { pid, uid });
        if answer.is_err() {
            // A later answer would be taken for that to another question.
            *place = None;
        }
        answer
    }
}

fn ask(socket: &mut UnixStream, question: Question) -> io::Result<Inspected> {
    let mut bytes = Vec::new();
    push(&question, &[], &mut bytes);
    socket.write_all(&bytes)?;
    bytes.clear();
    let mut chunk = [0; 16 * 1024];
    loop {
        if let Some((Answer { cpu_ns }, body, _)) = take::<Answer>(&bytes, MOST_BYTES + chunk.len())? {
            let json = Some(body.to_vec()).filter(|body| !body.is_empty());
            return Ok(Inspected { cpu: Nanos(cpu_ns), json });
        }
        match socket.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => bytes.extend_from_slice(&chunk[..length]),
        }
    }
}
