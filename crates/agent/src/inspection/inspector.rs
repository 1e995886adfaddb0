//! The process that keeps the privileges for looking at others, and starts a process for each question.

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
use service::{Level, Log};

use super::{Answer, LONGEST, LOOKING, MAX_BYTES, Outcome, Question};

/// The most processes that were killed and hang. Beyond it nothing is looked at; one place is left to those who may see all processes.
const MAX_STUCK: usize = 4;
/// A question is shorter.
const MAX_QUESTION_BYTES: usize = 1024;

/// Answers the questions of the server at the other end of a socket, until that is closed.
///
/// # Errors
/// If the kernel refuses a resource, or a question is malformed.
pub fn run(server: OwnedFd) -> io::Result<()> {
    // For a question of another user its process becomes that user.
    privilege::keep_for_children(&[&LOOKING[..], &[Kept::OtherUsers]].concat())?;
    privilege::refuse_inspection()?;
    let mut server = UnixStream::from(server);
    let mut inspector = Inspector { stuck: Vec::new(), log: Log::open() };
    let (mut questions, mut answer) = (Vec::new(), Vec::new());
    let mut chunk = [0; MAX_QUESTION_BYTES];
    loop {
        match server.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => questions.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        while let Some((question, _, length)) = take::<Question>(&questions, 0)? {
            questions.drain(..length);
            let (cpu, outcome) = inspector.answer(question);
            answer.clear();
            push(&Answer { id: question.id, cpu_ns: cpu.0 }, &[&outcome], &mut answer);
            if server.write_all(&answer).is_err() {
                // The server has ended.
                return Ok(());
            }
        }
    }
}

/// A process that was killed and has not ended.
struct Stuck {
    child: u32,
    question: Question,
}

/// How the output of a process ended.
enum Output {
    Whole(Vec<u8>),
    TooLong,
    Late,
}

struct Inspector {
    stuck: Vec<Stuck>,
    log: Log,
}

impl Inspector {
    /// Returns the CPU time that a question took, and an [`Outcome`] as JSON.
    fn answer(&mut self, question: Question) -> (Nanos, Vec<u8>) {
        self.stuck.retain(|stuck| reap_ended(stuck.child.cast_signed()).is_none());
        if let Some(outcome) = self.refusal(question) {
            return (Nanos(0), outcome.json());
        }
        self.ask(question).unwrap_or_else(|error| {
            self.log.write(Level::Warning, &format!("process {}: {error}", question.pid));
            (Nanos(0), Outcome::Failed.json())
        })
    }

    /// Returns why a process is not looked at: it hangs already, or one does that the same user asked for, or too many do.
    fn refusal(&self, Question { pid, uid, .. }: Question) -> Option<Outcome> {
        if self.stuck.iter().any(|stuck| stuck.question.pid == pid) {
            return Some(Outcome::Hangs);
        }
        let of_user = |stuck: &Stuck| uid.is_some() && stuck.question.uid == uid;
        let most = if uid.is_some() { MAX_STUCK - 1 } else { MAX_STUCK };
        (self.stuck.len() >= most || self.stuck.iter().any(of_user)).then_some(Outcome::Busy)
    }

    /// Starts a process for a question, and takes what it says.
    fn ask(&mut self, question: Question) -> io::Result<(Nanos, Vec<u8>)> {
        let (receiver, output) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let user = question.uid.map_or("all".to_owned(), |uid| uid.to_string());
        let pid = question.pid.to_string();
        let words = [own_program(), "agent".into(), "inspect".into(), pid.into(), user.into()];
        let command = Command {
            words: words.into_iter().collect::<Vec<OsString>>(),
            streams: [None, Some(output.as_fd()), None],
            group: Group::Own,
            dies_with_parent: true,
            ..Command::default()
        };
        let child = command.start()?;
        drop(output);
        let output = read_until(&receiver, Instant::now() + LONGEST);
        if let Ok(Output::Whole(outcome)) = output {
            let reaped = reap(child);
            let cpu = reaped.as_ref().map_or(Nanos(0), |reaped| reaped.usage.cpu());
            return match reaped {
                Some(Reaped { ending: Ending::Exited(0), .. }) => Ok((cpu, outcome)),
                // It has said why.
                _ => Ok((cpu, Outcome::Failed.json())),
            };
        }
        kill_child(child);
        self.stuck.push(Stuck { child, question });
        match output? {
            Output::Late => Ok((Nanos::from(LONGEST), Outcome::Hangs.json())),
            _ => Err(io::Error::other("what is known of it is too long")),
        }
    }
}

/// Reads all of a pipe, until a point in time.
fn read_until(pipe: &OwnedFd, deadline: Instant) -> io::Result<Output> {
    let mut waiter = Waiter::open(&[])?;
    let mut ready = Vec::new();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Output::Late);
        }
        if bytes.len() > MAX_BYTES {
            return Ok(Output::TooLong);
        }
        waiter.watch(0, Watch::ReadableOnce(pipe.as_fd()))?;
        waiter.wait(Some(Nanos::from(left)), &mut ready)?;
        if ready.is_empty() {
            continue;
        }
        match rustix::io::read(pipe, &mut chunk)? {
            0 => return Ok(Output::Whole(bytes)),
            length => bytes.extend_from_slice(&chunk[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(stuck: &[(u32, Option<u32>)], asked: &[(u32, Option<u32>)]) -> Vec<Option<&'static str>> {
        let question = |(pid, uid)| Question { id: 0, pid, uid };
        let stuck = stuck.iter().map(|of| Stuck { child: 0, question: question(*of) }).collect();
        let inspector = Inspector { stuck, log: Log::open() };
        let name = |outcome| match outcome {
            Outcome::Hangs => "hangs",
            Outcome::Busy => "busy",
            _ => "another",
        };
        asked.iter().map(|of| inspector.refusal(question(*of)).map(name)).collect()
    }

    #[test]
    fn what_hangs_takes_a_place_of_its_user() {
        let (root, ann, bob) = (None, Some(1), Some(2));
        assert_eq!(outcomes(&[], &[(7, root), (7, ann)]), [None, None]);
        // The same process is not waited for again, and a user may have one that hangs.
        let one = [(7, ann)];
        assert_eq!(
            outcomes(&one, &[(7, root), (8, root), (8, ann), (8, bob)]),
            [Some("hangs"), None, Some("busy"), None]
        );
        let three = [(5, root), (6, root), (7, root)];
        assert_eq!(outcomes(&three, &[(8, root), (8, ann)]), [None, Some("busy")]);
        let four = [(5, root), (6, root), (7, root), (8, bob)];
        assert_eq!(outcomes(&four, &[(9, root)]), [Some("busy")]);
    }
}
