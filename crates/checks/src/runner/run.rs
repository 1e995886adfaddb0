//! A plugin that runs.

use std::ffi::OsString;
use std::io::{self, ErrorKind};

use facts::task::{Cause, TaskSum};
use facts::unit::Nanos;
use probe::clock_now;
use probe::spawn::{Command, Group, Inherited, RUN_VARIABLE, Reaped, UserIds, end_group};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::io::{Errno, read};
use rustix::pipe::{PipeFlags, pipe_with};

use super::frames::{Fate, MAX_ERROR_BYTES, MAX_OUTPUT_BYTES, Order, ReportHead, RunCost};
use service::frames::push;

/// After it was asked to end it has so long to do it.
const GRACE: Nanos = Nanos(1_000_000_000);
/// A process that was killed and has not ended is looked at again after so long.
const KILL_AGAIN: Nanos = Nanos(5_000_000_000);
/// The most bytes of a flood that are read at a time, so that the others go on.
const BYTES_AT_A_TIME: usize = 256 * 1024;

/// One of its streams.
#[derive(Debug)]
struct Stream {
    /// Closed when the plugin and all it started have closed their ends.
    pipe: Option<OwnedFd>,
    /// Reading does not block.
    is_set: bool,
    bytes: Vec<u8>,
    most: usize,
    is_cut: bool,
}

/// How far the end of a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Runs,
    /// It was asked to end, and what is known of it reported.
    Asked,
    Killed,
}

/// A plugin that runs.
#[derive(Debug)]
pub(super) struct Run {
    id: u64,
    run: String,
    /// On the boot clock.
    pub(super) started: Nanos,
    /// When something is to be done about it, on the boot clock.
    pub(super) deadline: Nanos,
    stage: Stage,
    cost: RunCost,
    streams: [Stream; 2],
}

impl Run {
    /// Starts a plugin, in a group of its own; `runner` is the id of this process. Returns the id of its process, too.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub(super) fn start(
        order: Order,
        runner: u32,
        null: BorrowedFd<'_>,
        inherited: &Inherited,
    ) -> Result<(u32, Self), (u64, Fate)> {
        let Order { id, words, environment, directory, user, timeout_ms } = order;
        let failed = |error: io::Error| (id, fate_of_start(&error));
        let (output, into_output) = pipe().map_err(failed)?;
        let (errors, into_errors) = pipe().map_err(failed)?;
        let run = format!("{runner}.{id}");
        let environment = environment.into_iter().chain([(RUN_VARIABLE.to_owned(), run.clone())]);
        let command = Command {
            words: words.into_iter().map(OsString::from).collect(),
            inherited: Some(inherited),
            environment: environment.map(|(name, value)| (name.into(), value.into())).collect(),
            directory: directory.map(Into::into),
            streams: [Some(null), Some(into_output.as_fd()), Some(into_errors.as_fd())],
            group: Group::Own,
            dies_with_parent: true,
            user: user.map(|user| UserIds { uid: user.uid, gid: user.gid, groups: user.groups }),
            ..Command::default()
        };
        let before = clock_now().boottime;
        let pid = command.start().map_err(failed)?;
        let started = clock_now().boottime;
        let cost = RunCost { spawn_ns: started.saturating_sub(before).0, ..RunCost::default() };
        let stream =
            |pipe, most| Stream { pipe: Some(pipe), is_set: false, bytes: Vec::new(), most, is_cut: false };
        let deadline = started + Nanos(timeout_ms.saturating_mul(1_000_000));
        Ok((
            pid,
            Self {
                id,
                run,
                started: before,
                deadline,
                stage: Stage::Runs,
                cost,
                streams: [stream(output, MAX_OUTPUT_BYTES), stream(errors, MAX_ERROR_BYTES)],
            },
        ))
    }

    /// By which its descendants are known.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    /// A stream that is open.
    pub(super) fn pipe(&self, stream: usize) -> Option<BorrowedFd<'_>> {
        self.streams[stream].pipe.as_ref().map(|pipe| pipe.as_fd())
    }

    /// Takes what it has written.
    pub(super) fn read(&mut self, stream: usize) {
        self.streams[stream].read();
    }

    /// Does what is next about a run that is past its deadline. It is reported when it is asked to end.
    pub(super) fn end_next(&mut self, pid: u32, now: Nanos, out: &mut Vec<u8>) {
        match self.stage {
            Stage::Runs => {
                end_group(pid, false);
                self.read(0);
                self.read(1);
                self.report(Fate::TimedOut, false, now, out);
                (self.stage, self.deadline) = (Stage::Asked, now + GRACE);
            }
            Stage::Asked | Stage::Killed => {
                end_group(pid, true);
                (self.stage, self.deadline) = (Stage::Killed, now + KILL_AGAIN);
            }
        }
    }

    /// It has ended and was not reaped: takes what is known until then, and ends what it left in its group.
    pub(super) fn finish(&mut self, pid: u32, delays: Option<&TaskSum>) {
        end_group(pid, true);
        if self.stage == Stage::Runs {
            self.read(0);
            // It is shown only if there is nothing else.
            if self.streams[0].bytes.is_empty() {
                self.read(1);
            }
        }
        let Some(delays) = delays else { return };
        let delay = |cause: Cause| delays.delay(cause).total().map(|total| total.0);
        self.cost.run_queue_ns = delay(Cause::RunQueue);
        self.cost.blkio_ns = delay(Cause::BlockIo);
        // Those that overlap: the longest is a lower bound.
        let of_memory = [Cause::SwapIn, Cause::Thrashing, Cause::Reclaim, Cause::Compaction];
        self.cost.memory_ns = of_memory.into_iter().filter_map(delay).max();
    }

    /// It was reaped.
    pub(super) fn close(mut self, reaped: Option<Reaped>, now: Nanos, out: &mut Vec<u8>) {
        if let Some(reaped) = reaped {
            self.cost.cpu_ns = reaped.usage.cpu().0;
        }
        let fate = match self.stage {
            Stage::Runs => reaped.map_or(Fate::Lost, |reaped| Fate::of_ending(reaped.ending)),
            Stage::Asked | Stage::Killed => Fate::Gone,
        };
        self.report(fate, true, now, out);
    }

    fn report(&mut self, fate: Fate, is_gone: bool, now: Nanos, out: &mut Vec<u8>) {
        self.cost.wall_ns = now.saturating_sub(self.started).0;
        let [output, errors] = &mut self.streams;
        let head = ReportHead {
            id: self.id,
            fate,
            is_gone,
            cost: self.cost,
            output_bytes: output.bytes.len(),
            is_cut: output.is_cut,
        };
        push(&head, &[&output.bytes, &errors.bytes], out);
        (output.bytes, errors.bytes) = (Vec::new(), Vec::new());
    }
}

/// Reports a plugin that was not started.
pub(super) fn report_failure(id: u64, fate: Fate, out: &mut Vec<u8>) {
    let head =
        ReportHead { id, fate, is_gone: true, cost: RunCost::default(), output_bytes: 0, is_cut: false };
    push(&head, &[], out);
}

impl Stream {
    fn read(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        // When it is read first: most standard errors never are.
        if !self.is_set && rustix::io::ioctl_fionbio(pipe, true).is_err() {
            return;
        }
        self.is_set = true;
        let mut chunk = [0; 16 * 1024];
        let mut taken = 0;
        while taken < BYTES_AT_A_TIME {
            match read(pipe, &mut chunk) {
                Ok(length @ 1..) => {
                    taken += length;
                    let room = self.most - self.bytes.len();
                    self.bytes.extend_from_slice(&chunk[..length.min(room)]);
                    self.is_cut |= length > room;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Ok(0) | Err(_) => {
                    self.pipe = None;
                    break;
                }
            }
        }
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

fn fate_of_start(error: &io::Error) -> Fate {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Fate::NotFound(text),
        ErrorKind::PermissionDenied | ErrorKind::ExecutableFileBusy | ErrorKind::InvalidInput => {
            Fate::NotExecutable(text)
        }
        // A text file without "#!", or a program for another machine.
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => Fate::NotExecutable(text),
        _ => Fate::NotStarted(text),
    }
}
