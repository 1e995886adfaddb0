//! Failures that end a command: a sentence that says what to do, and an exit status.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use facts::sample::Absence;

use text::printable::printable_text;

/// The exit status where the command line cannot be carried out as it stands.
const USAGE: u8 = 2;

/// A command that could not do its work.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// Exit status 1.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// Exit status 2: the command line cannot be carried out as it stands.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: USAGE }
    }

    /// With another exit status.
    pub fn with_code(message: impl Into<String>, code: u8) -> Self {
        Self { message: message.into(), code }
    }

    /// A file that the command cannot do without.
    pub fn unreadable(path: &str, absence: Absence) -> Self {
        Self::new(format!("{path}: {absence}"))
    }

    /// A process or thread that was requested and cannot be read.
    pub fn of_task(what: &str, id: u32, absence: Absence) -> Self {
        Self::new(match absence {
            Absence::Gone => format!("{what} {id}: there is none (it may have ended)"),
            absence => format!("{what} {id}: {absence}"),
        })
    }

    /// A name that was requested and that no process has.
    pub fn no_process_named(name: &str) -> Self {
        Self::new(format!("no process is named \"{name}\""))
    }

    /// A cgroup that was requested and cannot be shown.
    pub fn of_cgroup(name: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self::new(format!("cgroup {name}: {reason}"))
    }

    /// A call that fails where descriptors, memory or threads are used up, and cannot fail otherwise.
    pub fn of_system(error: io::Error) -> Self {
        if is_exhausted(&error) {
            return Self::new(format!("{error}: more of them are needed (ulimit -n, -u, -v)"));
        }
        Self::internal(error)
    }

    /// Creates a failure for an internal error, which should not happen.
    pub fn internal(error: impl fmt::Display) -> Self {
        Self::new(format!("internal error, please report it: {error}"))
    }

    /// Ends without a message, since the reader has closed the pipe. The status is that of a program that SIGPIPE ends, since the output,
    /// perhaps a failure, was not written.
    pub fn reader_gone() -> Self {
        Self { message: String::new(), code: 128 + 13 }
    }

    /// The end without a word, with this exit status.
    pub fn silent(code: u8) -> Self {
        Self { message: String::new(), code }
    }

    /// Returns true if there is a message to print.
    pub fn has_message(&self) -> bool {
        !self.message.is_empty()
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Prints it to standard error.
    pub fn report(&self) -> ExitCode {
        if !self.message.is_empty() {
            // Whatever became part of the message must not move the terminal; a configuration's fault shows its line.
            let lines: Vec<String> =
                self.message.lines().map(|line| printable_text(line.as_bytes())).collect();
            write_stderr(&format!("whit: {}\n", lines.join("\n")));
            if self.code != USAGE && probe::is_proc_missing() {
                write_stderr("whit: /proc is not mounted, where most is read: mount -t proc proc /proc\n");
            }
        }
        ExitCode::from(self.code)
    }
}

impl From<probe::tasks::OpenError> for Failure {
    fn from(error: probe::tasks::OpenError) -> Self {
        match error {
            probe::tasks::OpenError::Root(error) => error.into(),
            refused @ probe::tasks::OpenError::Refused(..) => {
                Self::new(format!("{refused} (see whit doctor)"))
            }
        }
    }
}

impl From<probe::roots::RootError> for Failure {
    fn from(error: probe::roots::RootError) -> Self {
        if is_exhausted(error.cause()) {
            return Self::new(format!("{error}: more of them are needed (ulimit -n, -u, -v)"));
        }
        let hint = if error.is_captured() {
            " (a captured machine is a directory that holds proc, and perhaps sys, or sysctl and uptime of FreeBSD)"
        } else {
            ""
        };
        Self::new(format!("{error}{hint}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS, Errno::AGAIN];
    Errno::from_io_error(error).is_some_and(|errno| exhausted.contains(&errno))
}

/// Writes a message that will be repeated: it is dropped if standard error would block.
pub fn write_stderr_if_ready(text: &str) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut descriptors = [PollFd::from_borrowed_fd(rustix::stdio::stderr(), PollFlags::OUT)];
    if poll(&mut descriptors, Some(&now)).is_ok_and(|ready| ready > 0) {
        write_stderr(text);
    }
}

/// Writes a message to standard error. It is dropped if it cannot be written (a full disk).
pub fn write_stderr(text: &str) {
    let _ = std::io::stderr().write_all(without_error_numbers(text).as_bytes());
}

/// A message without the " (os error 2)" that `io::Error` appends: the words before it say the same.
pub fn without_error_numbers(text: &str) -> Cow<'_, str> {
    const START: &str = " (os error ";
    let mut shorter = Cow::Borrowed(text);
    while let Some(start) = shorter.find(START) {
        let rest = &shorter[start + START.len()..];
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 || !rest[digits..].starts_with(')') {
            break;
        }
        let end = start + START.len() + digits + 1;
        shorter = format!("{}{}", &shorter[..start], &shorter[end..]).into();
    }
    shorter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_left_out() {
        let error = io::Error::from_raw_os_error(2).to_string();
        assert!(error.contains("(os error 2)"));
        assert_eq!(without_error_numbers(&format!("x: {error}: y")), "x: No such file or directory: y");
        assert_eq!(without_error_numbers("a (os error x) b"), "a (os error x) b");
    }
}
