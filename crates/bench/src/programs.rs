//! Programs that are measured: started, waited for, and their output bounded.

use std::ffi::OsString;
use std::io;

use facts::unit::Nanos;
use probe::spawn::{Command, Ending};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};

/// The time after which a program is ended.
const PATIENCE_S: u64 = 120;
/// The most bytes that are kept of a program's output.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// The times and the output of a program that ended.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) wall: Nanos,
    /// With that of the children it waited for.
    pub(super) cpu: Nanos,
    pub(super) output: String,
}

/// A program that runs.
pub(super) struct Running {
    name: String,
    pid: u32,
    output: OwnedFd,
    /// Bytes of it that were read so far.
    printed: Vec<u8>,
    began: Nanos,
    is_reaped: bool,
}

/// Where a program's standard error goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errors {
    Nowhere,
    ToOutput,
}

/// Returns true if a program is in PATH.
pub(super) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    program.contains('/') || std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// whit itself.
pub(super) fn own_program() -> String {
    std::env::current_exe().map_or_else(|_| "whit".to_owned(), |path| path.display().to_string())
}

impl Running {
    /// Starts a program with nothing to read, and errors to nowhere.
    pub(super) fn start(words: &[&str]) -> Result<Self, String> {
        Self::start_with(words, Errors::Nowhere)
    }

    /// Starts a server, and waits for the line in which it says that it is listening: a client that comes before is refused.
    pub(super) fn start_server(words: &[&str]) -> Result<(Self, String), String> {
        let mut server = Self::start_with(words, Errors::ToOutput)?;
        loop {
            let text = String::from_utf8_lossy(&server.printed);
            let line =
                text.split_inclusive('\n').find(|line| line.contains("listening") && line.ends_with('\n'));
            if let Some(line) = line.map(|line| line.trim_end().to_owned()) {
                return Ok((server, line));
            }
            if !server.read()? {
                let text = String::from_utf8_lossy(&server.printed);
                return Err(format!("{} ended before it was listening: {}", server.name, text.trim_end()));
            }
        }
    }

    fn start_with(words: &[&str], errors: Errors) -> Result<Self, String> {
        let name = words.first().copied().unwrap_or_default().to_owned();
        let failed = |error: io::Error| format!("{name}: {error}");
        let nowhere = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| failed(error.into()))?;
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let errors = if errors == Errors::ToOutput { &writer } else { &nowhere };
        let began = probe::monotonic_now();
        let pid = Command {
            words: words.iter().map(OsString::from).collect(),
            streams: [Some(nowhere.as_fd()), Some(writer.as_fd()), Some(errors.as_fd())],
            ..Command::default()
        }
        .start()
        .map_err(failed)?;
        Ok(Self { name, pid, output: reader, printed: Vec::new(), began, is_reaped: false })
    }

    /// Asks it to end.
    pub(super) fn interrupt(&self) {
        if let Some(pid) = Pid::from_raw(self.pid.cast_signed()) {
            // One that has ended already is what was wanted.
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// Reads what it prints next; false at its end.
    fn read(&mut self) -> Result<bool, String> {
        let mut chunk = [0; 16 << 10];
        let timeout = Timespec { tv_sec: PATIENCE_S as i64, tv_nsec: 0 };
        let mut descriptors = [PollFd::new(&self.output, PollFlags::IN)];
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(0) => return Err(format!("{} printed nothing for {PATIENCE_S} s", self.name)),
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.to_string()),
        }
        match read(&self.output, &mut chunk) {
            Ok(0) => return Ok(false),
            Ok(length) if self.printed.len() < MAX_OUTPUT_BYTES => {
                self.printed.extend_from_slice(&chunk[..length]);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.to_string()),
        }
        Ok(true)
    }

    /// Waits for its end.
    pub(super) fn wait(mut self) -> Result<Ran, String> {
        while self.read()? {}
        let reaped = probe::spawn::reap(self.pid).ok_or("another process took its exit status")?;
        self.is_reaped = true;
        let wall = probe::monotonic_now().saturating_sub(self.began);
        match reaped.ending {
            Ending::Exited(0) => {}
            ending => return Err(format!("{}: {ending:?}", self.name)),
        }
        let output = String::from_utf8_lossy(&self.printed).into_owned();
        Ok(Ran { wall, cpu: reaped.usage.cpu(), output })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_reaped
            && let Some(pid) = Pid::from_raw(self.pid.cast_signed())
        {
            let _ = kill_process(pid, Signal::KILL);
            let _ = probe::spawn::reap(self.pid);
        }
    }
}

/// Runs a program to its end.
pub(super) fn run(words: &[&str]) -> Result<Ran, String> {
    Running::start(words)?.wait()
}

/// Runs a program and returns its CPU time in nanoseconds.
pub(super) fn cpu(words: &[&str]) -> Result<f64, String> {
    Ok(run(words)?.cpu.0 as f64)
}

/// Runs a program and returns the nanoseconds until it has ended.
pub(super) fn wall(words: &[&str]) -> Result<f64, String> {
    Ok(run(words)?.wall.0 as f64)
}

/// The number that it prints.
pub(super) fn printed(words: &[&str]) -> Result<f64, String> {
    let ran = run(words)?;
    ran.output.trim().parse().map_err(|_| format!("{} printed no number", words[0]))
}

/// The number that a Python program prints.
pub(super) fn python(program: &str) -> Result<f64, String> {
    printed(&["python3", "-c", program])
}
