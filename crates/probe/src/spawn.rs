//! Starts a user's own command: argv without a shell, by a child that copies none of our memory.
//!
//! The child gets the signals that whit blocks or ignores as they were meant to be. In a process group of its own it can be
//! ended with all it started.

mod process;
mod reaped;

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fd::BorrowedFd;

use crate::sys::{self, SpawnRequest};

pub use crate::sys::{Group, UserIds};
pub use process::{Ended, Known, Process, RUN_VARIABLE, end_group, kill_child, signal_child};
pub use reaped::{Ending, Reaped, Usage, next_ended, own_usage, reap, reap_any, reap_ended};

/// A command, and how it is to be started.
#[derive(Debug, Default)]
pub struct Command<'a> {
    /// The program, looked for in `PATH` unless a slash is in it, and its arguments.
    pub words: Vec<OsString>,
    /// The part of whit's environment that it inherits, prepared by a caller that starts many; `None`: as it is now.
    pub inherited: Option<&'a Inherited>,
    /// Added to the environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory; `None` for that of whit.
    pub directory: Option<PathBuf>,
    /// Standard input, output and error; none: whit's own.
    pub streams: [Option<BorrowedFd<'a>>; 3],
    /// Where it stands among processes.
    pub group: Group,
    /// The user that it runs as, which whit must be root for (Linux only); none: whit's own user.
    pub user: Option<UserIds>,
    /// The limits on what it may use.
    pub limits: Vec<(Limit, u64)>,
    /// A file descriptor that the command and its children inherit (Linux only). Other descriptors that whit opened are not inherited.
    pub kept: Option<BorrowedFd<'a>>,
    /// The `cgroup.procs` of the cgroup that it begins in; Linux only. If it cannot move there, it begins where whit is.
    pub cgroup: Option<BorrowedFd<'a>>,
    /// It gets SIGKILL when the thread that starts it ends (Linux only; not if it is a set-user-ID program).
    pub dies_with_parent: bool,
}

/// An environment that many commands inherit.
#[derive(Debug, Default)]
pub struct Inherited {
    /// The names, and `name=value` as the kernel takes it.
    variables: Vec<(OsString, CString)>,
    path: Option<OsString>,
}

impl Inherited {
    /// That of this process.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            // The kernel gave it without zero bytes.
            let variable = CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()?;
            Some((name, variable))
        });
        Self { variables: variables.collect(), path: std::env::var_os("PATH") }
    }
}

/// True if a command can be given a descriptor beside its standard streams.
pub const KEEPS_DESCRIPTORS: bool = cfg!(target_os = "linux");

/// This program, also when its file was replaced by a newer one: as the first of a command's words.
pub fn own_program() -> OsString {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().map_or_else(|_| "whit".into(), Into::into)
}

/// Names this process as its program is called, if the first of its words is [`own_program`]: the kernel names it after the last part of
/// the path, which is "exe" then, in every list of tasks.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
pub fn name_after_program(first_word: &OsStr) {
    #[cfg(target_os = "linux")]
    if first_word == own_program() {
        // Without it only the name is another one.
        let _ = rustix::thread::set_name(c"whit");
    }
}

/// A resource that setrlimit(2) can bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of address space.
    AddressSpace,
    /// Bytes of a core file.
    Core,
    /// Bytes of memory of its own: setrlimit(2), RLIMIT_DATA.
    Data,
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
            Self::Data => libc::RLIMIT_DATA,
            Self::Cpu => libc::RLIMIT_CPU,
            Self::FileSize => libc::RLIMIT_FSIZE,
            Self::OpenFiles => libc::RLIMIT_NOFILE,
            Self::Processes => libc::RLIMIT_NPROC,
            Self::Stack => libc::RLIMIT_STACK,
        }) as u32
    }
}

impl Command<'_> {
    /// Starts it. Returns the id of the child process, which must be waited for.
    ///
    /// # Errors
    /// If the program is not found, may not be executed, or the machine has no room for it.
    pub fn start(&self) -> io::Result<u32> {
        let nul = |_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "an argument, variable or path of the command contains a zero byte",
            )
        };
        let strings = |words: &mut dyn Iterator<Item = Vec<u8>>| -> io::Result<Vec<CString>> {
            words.map(CString::new).collect::<Result<_, _>>().map_err(nul)
        };
        let words = strings(&mut self.words.iter().map(|word| word.as_bytes().to_vec()))?;
        let own;
        let inherited = match self.inherited {
            Some(inherited) => inherited,
            None => {
                own = Inherited::of_process();
                &own
            }
        };
        let added = strings(
            &mut self
                .environment
                .iter()
                .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()),
        )?;
        let environment = self.whole_environment(inherited, &added);
        let is_path = |(name, _): &&(OsString, OsString)| name == "PATH";
        let path = self.environment.iter().rfind(is_path).map(|(_, path)| path.clone());
        let path = path.or_else(|| inherited.path.clone());
        let programs = strings(&mut self.candidates(path).into_iter())?;
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
            user: self.user.as_ref(),
            limits: &limits,
            kept: self.kept,
            cgroup: self.cgroup,
            dies_with_parent: self.dies_with_parent,
        })?;
        u32::try_from(pid).map_err(|_| io::Error::other("the command has no process id"))
    }

    /// The inherited environment with `added`, which is `environment`. If a name occurs several times, the last value counts.
    fn whole_environment<'e>(&self, inherited: &'e Inherited, added: &'e [CString]) -> Vec<&'e CStr> {
        let is_kept = |name: &OsString| self.environment.iter().all(|(added, _)| added != name);
        let kept = inherited.variables.iter().filter(|(name, _)| is_kept(name));
        let mut whole: Vec<&CStr> = kept.map(|(_, variable)| variable.as_c_str()).collect();
        for (place, variable) in added.iter().enumerate() {
            let (name, _) = &self.environment[place];
            if self.environment[place + 1..].iter().all(|(later, _)| later != name) {
                whole.push(variable);
            }
        }
        whole
    }

    /// Where the program may be: its own path, or below each directory of `PATH`.
    fn candidates(&self, path: Option<OsString>) -> Vec<Vec<u8>> {
        let Some(program) = self.words.first().map(|word| word.as_bytes()) else { return Vec::new() };
        if program.contains(&b'/') {
            return vec![program.to_vec()];
        }
        if program.is_empty() {
            return Vec::new();
        }
        // The default of execvp(3) if PATH is not set.
        let path = path.unwrap_or_else(|| "/bin:/usr/bin".into());
        let below = |directory: PathBuf| directory.join(OsStr::from_bytes(program)).into_os_string();
        std::env::split_paths(&path).map(|directory| below(directory).as_bytes().to_vec()).collect()
    }
}
