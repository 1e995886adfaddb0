//! A command under way that is waited for when it has ended, and ended with all it started.

use std::ffi::OsString;
use std::io;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, waitid, waitpid};

use super::reaped::reap_ended;
use super::{Command, Ending, Group, Usage};
use crate::clock::clock_now;

/// A running command.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    is_reaped: bool,
    /// Processes that it started and left behind live on.
    leaves_others: bool,
    /// The identifier that is in the environment of the command and of all that it starts.
    run: String,
}

/// The environment variable with the run of a process: which process started it, and when.
pub const RUN_VARIABLE: &str = "WHIT_RUN";

/// A process that this one started and has not reaped.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its id.
    pub pid: u32,
    /// Its run, unless that is over.
    pub run: Option<&'a str>,
}

/// Asks the group that a child leads to end, or kills it. The child was not reaped: until then the group's number is not reused.
pub fn end_group(child: u32, is_forced: bool) {
    let signal = if is_forced { Signal::KILL } else { Signal::TERM };
    if let Some(leader) = Pid::from_raw(child.cast_signed()) {
        // A group that is gone needs no signal.
        let _ = kill_process_group(leader, signal);
    }
}

/// Sends a signal to a child that was not reaped.
pub fn signal_child(child: u32, signal: crate::signals::Signal) {
    crate::sys::send_signal(child.cast_signed(), signal.number());
}

/// Sends SIGKILL to a child that was not reaped.
pub fn kill_child(child: u32) {
    crate::sys::send_signal(child.cast_signed(), libc::SIGKILL);
}

/// How a command ended and what it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub ending: Ending,
    /// The resources that it used; `None` if its status was collected elsewhere.
    pub usage: Option<Usage>,
}

impl Process {
    /// Starts `argv` with `extra` added to the environment; what it reads is empty. Its output goes nowhere, and
    /// what it leaves behind when it ends lives on.
    ///
    /// # Errors
    /// If the program is not found, may not be executed, or the machine has no room for it.
    pub fn start(argv: &[String], extra: &[(&str, &str)]) -> io::Result<Self> {
        let null = null()?;
        let mut process = Self::start_with(argv, extra, &null, &null)?;
        process.leaves_others = true;
        Ok(process)
    }

    /// Starts `argv` in the same way, with a pipe, not blocking, from which its output can be read. Processes that it leaves behind end
    /// with it.
    ///
    /// # Errors
    /// As above.
    pub fn start_piped(argv: &[String], extra: &[(&str, &str)]) -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        let run = format!("{}.{}", std::process::id(), clock_now().boottime.0);
        let extra = [extra, &[(RUN_VARIABLE, &run)]].concat();
        let mut process = Self::start_with(argv, &extra, &null()?, &writer)?;
        process.run = run;
        Ok((process, reader))
    }

    fn start_with(
        argv: &[String],
        extra: &[(&str, &str)],
        input: &OwnedFd,
        output: &OwnedFd,
    ) -> io::Result<Self> {
        let command = Command {
            words: argv.iter().map(OsString::from).collect(),
            environment: extra.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            streams: [Some(input.as_fd()), Some(output.as_fd()), None],
            group: Group::Own,
            ..Command::default()
        };
        let pid = command.start()?;
        let pid = Pid::from_raw(pid.cast_signed())
            .ok_or_else(|| io::Error::other("the command has no process id"))?;
        Ok(Self { pid, is_reaped: false, leaves_others: false, run: String::new() })
    }

    /// Its process id.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// The run that its descendants belong to, by which orphans are known.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// How it ended; none while it runs. Its status is taken once.
    pub fn ended(&mut self) -> Option<Ended> {
        // Looked at first and reaped then: until it is reaped the group's number is not reused.
        let looks = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), looks) {
            Ok(None) | Err(Errno::INTR) => return None,
            Ok(Some(_)) if !self.leaves_others => self.kill(),
            Ok(Some(_)) | Err(_) => {}
        }
        let reaped = reap_ended(self.id());
        self.is_reaped = true;
        Some(match reaped {
            Some(reaped) => Ended { ending: reaped.ending, usage: Some(reaped.usage) },
            None => Ended { ending: Ending::Unknown, usage: None },
        })
    }

    /// Ends it, and all it started.
    pub fn kill(&self) {
        // The number of a group whose leader was reaped may be reused. A group that is gone needs no signal.
        if !self.is_reaped {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }

    /// Lets it run on; another process becomes its parent when whit ends.
    pub fn leave(mut self) {
        self.is_reaped = true;
    }
}

impl Drop for Process {
    /// Nothing that was started is left behind, except for a moment a process that is dying: a caller that goes on running checks whether it has
    /// [`ended`](Self::ended) until it has.
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
            // One that hangs in the kernel must not hang us: then it is init's.
            let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
        }
    }
}

fn null() -> io::Result<OwnedFd> {
    Ok(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
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
        while process.ended().is_none() {
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
    fn a_command_that_cannot_be_started_has_a_reason() {
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
        while process.ended().is_none() {
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
    fn what_a_command_used_is_known_when_it_has_ended() {
        let script = "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done";
        let mut process = Process::start(&words(&["sh", "-c", script]), &[]).unwrap();
        let usage = loop {
            match process.ended() {
                Some(ended) => break ended.usage.unwrap(),
                None => std::thread::yield_now(),
            }
        };
        assert!(usage.cpu().0 > 0 && usage.peak_resident.0 > 0, "{usage:?}");
        // It is taken once.
        assert_eq!(process.ended(), Some(Ended { ending: Ending::Unknown, usage: None }));
    }

    #[test]
    fn a_group_ends_as_a_whole() {
        let mut process = Process::start(&words(&["sleep", "1000"]), &[]).unwrap();
        assert_eq!(process.ended(), None);
        process.kill();
        let ending = loop {
            match process.ended() {
                Some(ended) => break ended.ending,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(ending, Ending::Signaled(9));
    }
}
