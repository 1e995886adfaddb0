//! The process that keeps the privileges for reading others' /proc, and starts a process for each question.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use facts::unit::Nanos;
use probe::privilege::{self, Kept};
use probe::spawn::{Command, Ending, Group, Reaped, kill_child, own_program, reap, reap_ended};
use probe::wait::{Waiter, Watch};
use rustix::fd::OwnedFd;
use service::frames::{push, take};

use super::{Answer, LONGEST, MOST_BYTES, Question};

/// The most processes that were killed and hang. Beyond it nothing is looked at.
const MOST_STUCK: usize = 4;
/// A question is shorter.
const MOST_QUESTION_BYTES: usize = 1024;

/// Answers the questions of the server at the other end of a socket, until that is closed.
///
/// # Errors
/// If the kernel refuses a resource, or a question is malformed.
pub fn run(server: OwnedFd) -> io::Result<()> {
    privilege::keep_for_children(&[Kept::OthersProcesses, Kept::OthersFiles])?;
    privilege::refuse_inspection()?;
    let mut server = UnixStream::from(server);
    let (mut questions, mut stuck) = (Vec::new(), Vec::new());
    let mut chunk = [0; MOST_QUESTION_BYTES];
    loop {
        match server.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => questions.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        while let Some((question, _, length)) = take::<Question>(&questions, 0)? {
            questions.drain(..length);
            stuck.retain(|pid: &u32| reap_ended(pid.cast_signed()).is_none());
            let (cpu, inspection) = match stuck.len() < MOST_STUCK {
                true => ask(question, &mut stuck)?,
                false => (Nanos(0), Vec::new()),
            };
            let mut answer = Vec::new();
            push(&Answer { cpu_ns: cpu.0 }, &[&inspection], &mut answer);
            server.write_all(&answer)?;
        }
    }
}

/// Starts a process for a question. Returns the CPU time that it took, and what it found; nothing if it did not end in time.
fn ask(Question { pid, uid }: Question, stuck: &mut Vec<u32>) -> io::Result<(Nanos, Vec<u8>)> {
    let (receiver, output) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let user = uid.map_or("all".to_owned(), |uid| uid.to_string());
    let words = [own_program(), "agent".into(), "inspect".into(), pid.to_string().into(), user.into()];
    let command = Command {
        words: words.into_iter().collect::<Vec<OsString>>(),
        streams: [None, Some(output.as_fd()), None],
        group: Group::Own,
        dies_with_parent: true,
        ..Command::default()
    };
    let child = command.start()?;
    drop(output);
    let inspection = read_until(&receiver, Instant::now() + LONGEST)?;
    let reaped = match inspection {
        Some(_) => reap(child),
        None => {
            kill_child(child);
            stuck.push(child);
            None
        }
    };
    let inspection = inspection.filter(|_| matches!(reaped, Some(Reaped { ending: Ending::Exited(0), .. })));
    let cpu = reaped.map_or(Nanos::from(LONGEST), |reaped| reaped.usage.cpu());
    Ok((cpu, inspection.unwrap_or_default()))
}

/// Reads all of a pipe; `None` if it is not at its end in time, or too long.
fn read_until(pipe: &OwnedFd, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut waiter = Waiter::open(&[])?;
    let mut ready = Vec::new();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > MOST_BYTES {
            return Ok(None);
        }
        waiter.watch(0, Watch::ReadableOnce(pipe.as_fd()))?;
        waiter.wait(Some(Nanos::from(left)), &mut ready)?;
        if ready.is_empty() {
            continue;
        }
        match rustix::io::read(pipe, &mut chunk)? {
            0 => return Ok(Some(bytes)),
            length => bytes.extend_from_slice(&chunk[..length]),
        }
    }
}
