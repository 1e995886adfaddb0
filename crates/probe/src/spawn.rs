//! Starts a user's own command: argv without a shell, by a child that copies none of our memory.
//!
//! The child gets the signals that whit blocks or ignores as they were meant to be. In a process group of its own it can be
//! ended with all it started.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use facts::unit::{Bytes, Nanos};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group, waitid, waitpid,
};

use crate::sys::{self, SpawnRequest};

pub use crate::sys::Group;

/// A command, and how it is to be started.
#[derive(Debug, Default)]
pub struct Command<'a> {
    /// The program, looked for in `PATH` unless a slash is in it, and its arguments.
    pub words: Vec<OsString>,
    /// Added to the environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it begins; none: where whit is.
    pub directory: Option<PathBuf>,
    /// Standard input, output and error; none: whit's own.
    pub streams: [Option<BorrowedFd<'a>>; 3],
    /// Where it stands among processes.
    pub group: Group,
    /// What it may use at most.
    pub limits: Vec<(Limit, u64)>,
    /// A descriptor that it and what it starts hold, too. All others of whit are closed.
    pub kept: Option<BorrowedFd<'a>>,
}

/// What setrlimit(2) can bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of address space.
    AddressSpace,
    /// Bytes of a core file.
    Core,
    /// Seconds on a CPU.
    Cpu,
    /// Bytes of a file that it writes.
    FileSize,
    /// Open files.
    OpenFiles,
    /// Processes and threads of the user.
    Processes,
    /// Bytes of stack.
    Stack,
}

impl Limit {
    /// All, by the names that limits.conf(5) has for them.
    pub const NAMED: [(&'static str, Self); 7] = [
        ("as", Self::AddressSpace),
        ("core", Self::Core),
        ("cpu", Self::Cpu),
        ("fsize", Self::FileSize),
        ("nofile", Self::OpenFiles),
        ("nproc", Self::Processes),
        ("stack", Self::Stack),
    ];

    // The numbers have another type on each system.
    #[allow(clippy::unnecessary_cast)]
    fn number(self) -> u32 {
        (match self {
            Self::AddressSpace => libc::RLIMIT_AS,
            Self::Core => libc::RLIMIT_CORE,
            Self::Cpu => libc::RLIMIT_CPU,
            Self::FileSize => libc::RLIMIT_FSIZE,
            Self::OpenFiles => libc::RLIMIT_NOFILE,
            Self::Processes => libc::RLIMIT_NPROC,
            Self::Stack => libc::RLIMIT_STACK,
        }) as u32
    }
}

impl Command<'_> {
    /// Starts it. The id of its process, which is a child that somebody has to wait for.
    ///
    /// # Errors
    /// Where the program is not found, may not be executed, or the machine has no room for it.
    pub fn start(&self) -> io::Result<u32> {
        let nul = |_| io::Error::new(io::ErrorKind::InvalidInput, "a zero byte in a word");
        let strings = |words: &mut dyn Iterator<Item = Vec<u8>>| -> io::Result<Vec<CString>> {
            words.map(CString::new).collect::<Result<_, _>>().map_err(nul)
        };
        let words = strings(&mut self.words.iter().map(|word| word.as_bytes().to_vec()))?;
        let is_added = |name: &OsStr| self.environment.iter().any(|(added, _)| added == name);
        let inherited = std::env::vars_os().filter(|(name, _)| !is_added(name));
        let environment = inherited.chain(self.environment.iter().cloned());
        let environment = strings(
            &mut environment.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()),
        )?;
        let programs = strings(&mut self.candidates().into_iter())?;
        let directory = self.directory.as_ref();
        let directory =
            directory.map(|path| CString::new(path.as_os_str().as_bytes())).transpose().map_err(nul)?;
        let limits: Vec<(u32, u64)> =
            self.limits.iter().map(|(limit, value)| (limit.number(), *value)).collect();
        let pid = sys::spawn(&SpawnRequest {
            programs: &programs,
            words: &words,
            environment: &environment,
            streams: self.streams,
            directory: directory.as_deref(),
            group: self.group,
            limits: &limits,
            kept: self.kept,
        })?;
        u32::try_from(pid).map_err(|_| io::Error::other("the command has no process id"))
    }

    /// Where the program may be: its own path, or below each directory of `PATH`.
    fn candidates(&self) -> Vec<Vec<u8>> {
        let Some(program) = self.words.first().map(|word| word.as_bytes()) else { return Vec::new() };
        if program.contains(&b'/') {
            return vec![program.to_vec()];
        }
        if program.is_empty() {
            return Vec::new();
        }
        // As execvp(3) has it where there is none.
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        let below = |directory: PathBuf| directory.join(OsStr::from_bytes(program)).into_os_string();
        std::env::split_paths(&path).map(|directory| below(directory).as_bytes().to_vec()).collect()
    }
}

/// A child that ended, and what it used, the children that it waited for included: wait4(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaped {
    /// Its process id.
    pub pid: u32,
    /// How it ended.
    pub ending: Ending,
    /// In user mode.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
    /// The most memory that one of them had.
    pub peak_resident: Bytes,
}

/// Reaps a child that has ended, whichever it is; none where none has.
pub fn reap_any() -> Option<Reaped> {
    of_system(sys::reap_any()?)
}

/// Waits for a child to end, and reaps it.. None where it is no child.
pub fn reap(pid: u32) -> Option<Reaped> {
    of_system(sys::reap(i32::try_from(pid).ok()?)?)
}

fn of_system(reaped: sys::Reaped) -> Option<Reaped> {
    Some(Reaped {
        pid: u32::try_from(reaped.pid).ok()?,
        ending: ending_of_status(reaped.status),
        user: reaped.user,
        system: reaped.system,
        peak_resident: Bytes::from_kib(reaped.peak_resident_kib),
    })
}

fn ending_of_status(status: i32) -> Ending {
    if libc::WIFSIGNALED(status) {
        Ending::Signaled(libc::WTERMSIG(status))
    } else {
        Ending::Exited(libc::WEXITSTATUS(status))
    }
}

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
