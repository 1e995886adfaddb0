//! A running command: its output as it is printed, its end, its timeout.

use std::collections::VecDeque;
use std::io;

use facts::unit::Nanos;
use probe::orphans::Known;
use probe::spawn::{Ended, Process};
use probe::wait::Watch;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, read};

/// Output beyond this is read and dropped.
const MAX_BYTES: usize = 64 * 1024;
/// The number of bytes of a flood that are read at a time, so that the caller's other work goes on.
const BYTES_AT_A_TIME: usize = 256 * 1024;

/// A command that was started, in a process group of its own, and runs until it ends or its time is over.
#[derive(Debug)]
pub struct CommandRun {
    process: Process,
    /// Closed when the command has closed its end.
    pipe: Option<OwnedFd>,
    output: Vec<u8>,
    is_by_line: bool,
    lines: VecDeque<Vec<u8>>,
    deadline: Option<Nanos>,
    ended: Option<Ended>,
}

/// An event of a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// It printed a line and runs on.
    Line(Vec<u8>),
    /// It ended.
    Ended {
        /// The output, up to 64 KiB.
        output: Vec<u8>,
        /// How it ended, and its usage.
        ended: Ended,
    },
    /// Its time is over; it is to be killed.
    TimedOut,
}

impl CommandRun {
    /// Starts it; `deadline` is on the boot clock. With `is_by_line` each line is an event, otherwise the output is returned at the end.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub fn start(words: &[String], is_by_line: bool, deadline: Option<Nanos>) -> io::Result<Self> {
        let (process, pipe) = Process::start_piped(words, &[])?;
        let (output, lines) = (Vec::new(), VecDeque::new());
        Ok(Self { process, pipe: Some(pipe), output, is_by_line, lines, deadline, ended: None })
    }

    /// Becomes readable when it printed something or closed its output.
    pub fn watch(&self) -> Option<Watch<'_>> {
        self.pipe.as_ref().map(|pipe| Watch::ReadableOnce(pipe.as_fd()))
    }

    /// Its process, for [`probe::orphans`].
    pub fn known(&self) -> Known<'_> {
        Known { pid: self.process.id().cast_unsigned(), run: Some(self.process.run()) }
    }

    /// When its time is over, on the boot clock.
    pub fn deadline(&self) -> Option<Nanos> {
        self.deadline
    }

    /// The next event, without waiting; `now` is on the boot clock.
    pub fn next(&mut self, now: Nanos) -> Option<Event> {
        // First its end, then its output: everything that it printed is in the pipe by then. Its descendants may hold the pipe
        // open longer; the rest of their output is not waited for.
        self.ended = self.ended.or_else(|| self.process.ended());
        self.take_output();
        if let Some(line) = self.lines.pop_front() {
            return Some(Event::Line(line));
        }
        if let Some(ended) = self.ended {
            return Some(Event::Ended { output: std::mem::take(&mut self.output), ended });
        }
        self.deadline.is_some_and(|deadline| now >= deadline).then_some(Event::TimedOut)
    }

    /// Kills its process group. The process is to be reaped by the caller: one that hangs in a system call ends when that returns.
    pub fn kill(self) -> Process {
        self.process.kill();
        self.process
    }

    fn take_output(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let mut chunk = [0; 16 * 1024];
        let mut taken = 0;
        while taken < BYTES_AT_A_TIME {
            match read(pipe, &mut chunk) {
                Ok(0) => {
                    self.pipe = None;
                    break;
                }
                Ok(length) => {
                    taken += length;
                    let room = MAX_BYTES.saturating_sub(self.output.len());
                    let is_full = length > room;
                    self.output.extend_from_slice(&chunk[..length.min(room)]);
                    if self.is_by_line {
                        take_lines(&mut self.output, &mut self.lines);
                        if is_full {
                            // A line of more than 64 KiB is dropped.
                            self.output.clear();
                        }
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    self.pipe = None;
                    break;
                }
            }
        }
    }
}

/// Takes whole lines. Only the last of several is kept: it is the newest state.
fn take_lines(output: &mut Vec<u8>, lines: &mut VecDeque<Vec<u8>>) {
    let Some(end) = output.iter().rposition(|byte| *byte == b'\n') else { return };
    let start = output[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    lines.clear();
    lines.push_back(output[start..end].to_vec());
    output.drain(..=end);
}
