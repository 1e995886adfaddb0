//! A command under way: its output as it comes, its end, its time.

use std::collections::VecDeque;
use std::io;

use facts::unit::Nanos;
use probe::orphans::Known;
use probe::spawn::{Ended, Process};
use probe::wait::Watch;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, read};

/// What a bar shows is a line; what is beyond this is read and thrown away.
const MOST_BYTES: usize = 64 * 1024;
/// Of a flood so much is taken at a time, lest the bar stands still.
const BYTES_AT_A_TIME: usize = 256 * 1024;

pub(super) struct Run {
    process: Process,
    /// Closed when the command has closed its end.
    pipe: Option<OwnedFd>,
    output: Vec<u8>,
    is_by_line: bool,
    lines: VecDeque<Vec<u8>>,
    deadline: Option<Nanos>,
    ended: Option<Ended>,
}

/// What happened to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A line of one that runs on.
    Line(Vec<u8>),
    /// It is over; what it printed.
    Ended { output: Vec<u8>, ended: Ended },
    /// It took too long and was ended.
    TimedOut,
}

impl Run {
    pub(super) fn start(words: &[String], is_by_line: bool, deadline: Option<Nanos>) -> io::Result<Self> {
        let (process, pipe) = Process::start_piped(words, &[])?;
        let (output, lines) = (Vec::new(), VecDeque::new());
        Ok(Self { process, pipe: Some(pipe), output, is_by_line, lines, deadline, ended: None })
    }

    pub(super) fn watch(&self) -> Option<Watch<'_>> {
        self.pipe.as_ref().map(|pipe| Watch::ReadableOnce(pipe.as_fd()))
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known { pid: self.process.id().cast_unsigned(), run: Some(self.process.run()) }
    }

    pub(super) fn deadline(&self) -> Option<Nanos> {
        self.deadline
    }

    /// The next thing that happened, without waiting.
    pub(super) fn next(&mut self, now: Nanos) -> Option<Event> {
        // First its end, then its output: what it printed last is in the pipe then. What it started and left behind may
        // hold the pipe open; that is not waited for.
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

    /// Ends it with all it started. It may take its time: one that hangs in the kernel dies when the kernel lets go.
    pub(super) fn kill(self) -> Process {
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
                    let room = MOST_BYTES.saturating_sub(self.output.len());
                    let is_full = length > room;
                    self.output.extend_from_slice(&chunk[..length.min(room)]);
                    if self.is_by_line {
                        take_lines(&mut self.output, &mut self.lines);
                        if is_full {
                            // A line without an end is given up.
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

/// Takes whole lines; of many at once only the last is of interest.
fn take_lines(output: &mut Vec<u8>, lines: &mut VecDeque<Vec<u8>>) {
    let Some(end) = output.iter().rposition(|byte| *byte == b'\n') else { return };
    let start = output[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    lines.clear();
    lines.push_back(output[start..end].to_vec());
    output.drain(..=end);
}
