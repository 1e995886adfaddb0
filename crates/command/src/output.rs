//! Standard output, unbuffered: what a tick has to say is made in one buffer and goes out in one write.

use std::io::{self, IsTerminal as _};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::BorrowedFd;
use rustix::io::{Errno, write};
use rustix::stdio::stdout;

use text::style::Style;

use crate::failure::Failure;

/// Standard output, and how often it was written to.
#[derive(Debug)]
pub struct Output {
    /// System calls made.
    pub calls: u64,
}

/// From how many bytes on a long text goes out before it is whole: memory that is used again is cheaper than new.
pub const DRAIN_BYTES: usize = 64 * 1024;

/// Characters of a line of explanations: the terminal's, within what is pleasant to read.
pub fn line_width() -> usize {
    const WIDTHS: std::ops::RangeInclusive<usize> = 40..=98;
    terminal_columns().map_or(*WIDTHS.end(), |columns| columns.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

/// Returns the columns of the terminal that standard output is; `None` if it is none.
pub fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok().filter(|size| size.ws_col > 0);
    size.map(|size| usize::from(size.ws_col))
}

/// The bytes that a writable pipe takes at once: pipe(7), PIPE_BUF.
const PART_BYTES: usize = 4096;

impl Output {
    /// Standard output.
    pub fn stdout() -> Self {
        Self { calls: 0 }
    }

    /// Writes a text that has grown long, and empties it.
    pub fn drain(&mut self, text: &mut String) -> Result<(), Failure> {
        if text.len() >= DRAIN_BYTES {
            self.write(text.as_bytes())?;
            text.clear();
        }
        Ok(())
    }

    /// Writes all of it, unless the reader does not read and `end` becomes readable: then it ends as if the reader had gone.
    pub fn write_until(&mut self, bytes: &[u8], end: BorrowedFd<'_>) -> Result<(), Failure> {
        for part in bytes.chunks(PART_BYTES) {
            let mut descriptors = [
                PollFd::from_borrowed_fd(stdout(), PollFlags::OUT),
                PollFd::from_borrowed_fd(end, PollFlags::IN),
            ];
            self.calls += 1;
            while poll(&mut descriptors, None).is_err_and(|error| error == Errno::INTR) {}
            // A signal to end can arrive while the reader is not reading.
            if descriptors[0].revents().is_empty() && descriptors[1].revents().contains(PollFlags::IN) {
                return Err(Failure::silent(0));
            }
            self.write(part)?;
        }
        Ok(())
    }

    /// Writes all of it. A reader that went away ends the command quietly.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            self.calls += 1;
            match write(stdout(), bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                // Another process that shares it has made it non-blocking.
                Err(Errno::AGAIN) => {
                    let mut descriptors = [PollFd::from_borrowed_fd(stdout(), PollFlags::OUT)];
                    let _ = poll(&mut descriptors, None);
                }
                Err(error) => return Err(failure(error.into())),
            }
        }
        Ok(())
    }
}

/// Why standard output cannot be written to. A reader that went away ends the command quietly.
pub fn failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::new(format!("standard output: {error}")),
    }
}

/// The style for standard output: coloured on a terminal, unless NO_COLOR is set (no-color.org).
pub fn stdout_style() -> Style {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    Style { is_colored: !no_color && !is_dumb && std::io::stdout().is_terminal() }
}
