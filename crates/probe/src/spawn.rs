//! Starts a user's own command: argv without a shell, by posix_spawn(3), which copies no memory of ours.
//!
//! The child leads a process group of its own, so that it can be ended with all it started, and gets the signals that
//! whit blocks or ignores as they were meant to be.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group, waitid, waitpid,
};

use crate::sys;

/// A running command.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    is_reaped: bool,
    /// What it started and left behind lives on.
    leaves_others: bool,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// Somebody else took its status.
    Unknown,
}

impl Process {
    /// Starts `argv` with `extra` added to the environment; what it reads is empty. Its output goes nowhere, and
    /// what it leaves behind when it ends lives on.
    ///
    /// # Errors
    /// Where the program is not found, may not be executed, or the machine has no room for it.
    pub fn start(argv: &[String], extra: &[(&str, &str)]) -> io::Result<Self> {
        let null = null()?;
        let mut process = Self::start_with(argv, extra, &null, &null)?;
        process.leaves_others = true;
        Ok(process)
    }

    /// The same with a pipe, not blocking, from which its output can be read. What it leaves behind ends with it.
    ///
    /// # Errors
    /// As above.
    pub fn start_piped(argv: &[String], extra: &[(&str, &str)]) -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        let process = Self::start_with(argv, extra, &null()?, &writer)?;
        Ok((process, reader))
    }

    fn start_with(
        argv: &[String],
        extra: &[(&str, &str)],
        input: &OwnedFd,
        output: &OwnedFd,
    ) -> io::Result<Self> {
        let nul = |_| io::Error::new(io::ErrorKind::InvalidInput, "a zero byte in a word");
        let words = argv.iter().map(|word| CString::new(word.as_str()));
        let words: Vec<CString> = words.collect::<Result<_, _>>().map_err(nul)?;
        let inherited = std::env::vars_os().filter(|(name, _)| extra.iter().all(|(key, _)| name != key));
        let added = extra.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = inherited.chain(added).map(|(name, value)| variable(&name, &value));
        let environment: Vec<CString> = environment.collect::<Result<_, _>>().map_err(nul)?;
        let pid = sys::spawn(&words, &environment, input.as_fd(), output.as_fd())?;
        let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("the command has no process id"))?;
        Ok(Self { pid, is_reaped: false, leaves_others: false })
    }

    /// Its process id.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// How it ended; none while it runs. Its status is taken once.
    pub fn ending(&mut self) -> Option<Ending> {
        // Looked at first, and taken then: until it is, nobody else can be given the group's number.
        let looks = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), looks) {
            Ok(None) | Err(Errno::INTR) => return None,
            Ok(Some(_)) if !self.leaves_others => self.kill(),
            Ok(Some(_)) | Err(_) => {}
        }
        let status = match waitpid(Some(self.pid), WaitOptions::NOHANG) {
            Ok(None) | Err(Errno::INTR) => return None,
            Ok(Some((_, status))) => Some(status),
            Err(_) => None,
        };
        self.is_reaped = true;
        Some(status.map_or(Ending::Unknown, ending_of))
    }

    /// Ends it, and all it started.
    pub fn kill(&self) {
        // A group whose leader was reaped may be somebody else's by now. One that is gone needs no signal.
        if !self.is_reaped {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }

    /// Lets it run on, to be somebody else's child when whit ends.
    pub fn leave(mut self) {
        self.is_reaped = true;
    }
}

impl Drop for Process {
    /// Nothing that was started is left behind, but for a moment a process that is dying: who goes on running asks for its
    /// [`ending`](Self::ending) until it has one.
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
            // One that hangs in the kernel must not hang us: then it is init's.
            let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
        }
    }
}

fn ending_of(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signaled(signal),
        (None, None) => Ending::Unknown,
    }
}

fn null() -> io::Result<OwnedFd> {
    Ok(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

fn variable(name: &OsStr, value: &OsStr) -> Result<CString, std::ffi::NulError> {
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn output(argv: &[&str]) -> String {
        let (mut process, reader) = Process::start_piped(&words(argv), &[("WHIT_TEST", "yes")]).unwrap();
        rustix::io::ioctl_fionbio(&reader, false).unwrap();
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        while let Ok(read @ 1..) = rustix::io::read(&reader, &mut chunk) {
            bytes.extend_from_slice(&chunk[..read]);
        }
        while process.ending().is_none() {
            std::thread::yield_now();
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_command_gets_its_words_its_environment_and_its_signals() {
        assert_eq!(output(&["printf", "%s|", "a b", "$HOME"]), "a b|$HOME|");
        assert!(output(&["env"]).contains("WHIT_TEST=yes\n"));
        // No signal is blocked and the broken pipe's is not ignored.
        let status = output(&["cat", "/proc/self/status"]);
        let bits = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        assert_eq!((bits("SigBlk:"), bits("SigIgn:") & 1 << (libc::SIGPIPE - 1)), (0, 0));
    }

    #[test]
    fn what_cannot_be_started_says_why() {
        let error = Process::start(&words(&["/nonexistent/program"]), &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(Process::start(&words(&["a\0b"]), &[]).is_err());
        assert!(Process::start(&[], &[]).is_err());
    }

    #[test]
    fn what_a_command_leaves_behind_ends_with_it() {
        let script = "sleep 5000 & echo $!";
        let (mut process, reader) = Process::start_piped(&words(&["sh", "-c", script]), &[]).unwrap();
        rustix::io::ioctl_fionbio(&reader, false).unwrap();
        let mut bytes = [0; 32];
        let length = rustix::io::read(&reader, &mut bytes).unwrap();
        let left: i32 = std::str::from_utf8(&bytes[..length]).unwrap().trim().parse().unwrap();
        while process.ending().is_none() {
            std::thread::yield_now();
        }
        // Killed, it is init's to reap.
        let is_there = || match std::fs::read_to_string(format!("/proc/{left}/stat")) {
            Ok(stat) => !stat.contains(") Z "),
            Err(_) => false,
        };
        while is_there() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_group_ends_as_a_whole() {
        let mut process = Process::start(&words(&["sleep", "1000"]), &[]).unwrap();
        assert_eq!(process.ending(), None);
        process.kill();
        let ending = loop {
            match process.ending() {
                Some(ending) => break ending,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(ending, Ending::Signaled(9));
    }
}
