//! The FIFO for Nagios' external commands.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use probe::wait::{Waiter, Watch};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use text::printable::Shown as _;

use super::external::requests;
use super::registry::CheckRegistry;
use super::request::CheckRequest;
use service::{Level, Log};

/// A longer line is dropped: a plugin's output has 64 KiB at most.
const MAX_LINE_BYTES: usize = 128 * 1024;

/// The FIFO that a loop reads commands from.
#[derive(Debug)]
pub(super) struct CommandFile {
    /// That of the loop's waiter.
    token: u64,
    /// The name of this machine, whose checks have no host.
    machine: String,
    fifo: Option<Fifo>,
}

impl CommandFile {
    /// None yet.
    pub(super) fn new(token: u64) -> Self {
        let machine = probe::host_name();
        Self { token, machine, fifo: None }
    }

    /// Reads another one from now on, or none.
    pub(super) fn reopen(&mut self, path: Option<&Path>, waiter: &mut Waiter, log: &Log) {
        if self.fifo.as_ref().map(|fifo| fifo.path.as_path()) == path {
            return;
        }
        if let Some(old) = self.fifo.take() {
            waiter.forget(Watch::Readable(old.file.as_fd()));
        }
        let Some(path) = path else { return };
        let opened = Fifo::open(path)
            .and_then(|fifo| waiter.watch(self.token, Watch::Readable(fifo.file.as_fd())).map(|()| fifo));
        match opened {
            Ok(fifo) => self.fifo = Some(fifo),
            Err(error) => {
                log.write(Level::Warning, &format!("{}: {error}; no commands are read", path.shown()))
            }
        }
    }

    /// Reads commands. Returns what they ask for, and what is wrong with others.
    pub(super) fn read_requests(
        &mut self,
        registry: &CheckRegistry,
        now_ms: i64,
    ) -> (Vec<CheckRequest>, Vec<String>) {
        let (mut asked, mut faults) = (Vec::new(), Vec::new());
        for line in self.fifo.iter_mut().flat_map(Fifo::read_lines) {
            match requests(&line, registry, &self.machine, now_ms) {
                Ok(requests) => asked.extend(requests),
                Err(fault) => faults.push(fault),
            }
        }
        (asked, faults)
    }
}

/// A FIFO, as long as this is kept.
#[derive(Debug)]
struct Fifo {
    path: PathBuf,
    file: OwnedFd,
    /// The beginning of a line.
    rest: Vec<u8>,
    /// The line is too long: its end is dropped, too.
    is_dropping: bool,
}

impl Fifo {
    /// Opens a FIFO, which is made if there is none, for its user and group.
    ///
    /// # Errors
    /// If it cannot be made or opened, or is something else.
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.file_type().is_fifo() => {}
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "there is something else than a FIFO",
                ));
            }
            Err(_) => {
                mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
                // Whatever the umask: the group writes commands.
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))?;
            }
        }
        // For writing, too: otherwise its end is read all the time while no program has it open.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = open(path, flags, Mode::empty())?;
        Ok(Self { path: path.to_owned(), file, rest: Vec::new(), is_dropping: false })
    }

    /// Reads what was written, some 64 KiB at most: the rest is for the next time. Returns whole lines.
    fn read_lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut bytes = [0; 64 * 1024];
        let Ok(length) = rustix::io::read(&self.file, &mut bytes) else { return lines };
        for part in bytes[..length].split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part);
            let is_whole = part.ends_with(b"\n");
            if self.rest.len() > MAX_LINE_BYTES {
                (self.rest, self.is_dropping) = (Vec::new(), true);
            }
            if is_whole {
                let line = std::mem::take(&mut self.rest);
                if !std::mem::take(&mut self.is_dropping) {
                    lines.push(String::from_utf8_lossy(&line).into_owned());
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_are_whole_and_not_too_long() {
        let path = std::env::temp_dir().join(format!("whit-commands-{}", std::process::id()));
        let mut file = Fifo::open(&path).unwrap();
        let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
        writer.write_all(b"one\ntw").unwrap();
        assert_eq!(file.read_lines(), ["one\n"]);
        writer.write_all(b"o\n").unwrap();
        assert_eq!(file.read_lines(), ["two\n"]);
        assert!(file.read_lines().is_empty());
        for _ in 0..3 {
            writer.write_all(&vec![b'x'; 60_000]).unwrap();
            assert!(file.read_lines().is_empty());
        }
        writer.write_all(b"x\nthree\n").unwrap();
        assert_eq!(file.read_lines(), ["three\n"]);
        std::fs::remove_file(path).unwrap();
    }
}
