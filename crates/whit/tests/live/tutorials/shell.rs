//! A shell in an empty home. What a tutorial starts meets no other trial, and ends with the shell.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{fs, io};

use rustix::process::{Pid, Signal, kill_process_group};

use super::super::machine::{Scratch, WHIT, copy_program};

/// A user that has nothing.
const USER: u32 = 60_011;
/// A network and a table of processes of their own.
const OF_A_USER: [&str; 5] = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const LOOPBACK: &str = "ip link set lo up";
/// What root's agent would write to the machine goes away with the shell.
const PLACES_OF_ROOT: &str = "mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib";
/// Where a reader's home is.
const SHOWN_HOME: &str = "/home/ann";
/// A line with the exit status stands behind it (ASCII's record separator, which no program prints).
const SEPARATOR: char = '\u{1e}';

/// Who reads.
pub(super) enum Reader<'a> {
    /// A user without privileges.
    User,
    /// The same, in this cgroup.
    UserInCgroup(&'a Path),
    /// Root, in the namespaces of the machine, since there alone the kernel reports all delays.
    Root,
}

pub(super) struct Shell {
    home: PathBuf,
    /// The reader's user.
    owner: u32,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _scratch: Scratch,
}

impl Shell {
    /// Enters a new home.
    pub(super) fn start(name: &str, reader: &Reader<'_>) -> io::Result<Self> {
        let scratch = Scratch::for_all(&format!("tutorial-{name}"));
        let (home, programs) = (scratch.0.join("home"), scratch.0.join("bin"));
        let runtime = home.join("run");
        for directory in [&home, &programs, &runtime] {
            fs::create_dir(directory)?;
        }
        // The tree may be where others may not go.
        copy_program(WHIT, programs.join("whit"));
        fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700))?;
        let (namespaces, prepare, owner): (&[&str], _, _) = match reader {
            Reader::User => (&OF_A_USER, LOOPBACK.to_owned(), USER),
            Reader::UserInCgroup(path) => {
                (&OF_A_USER, format!("{LOOPBACK} && echo $$ > {}/cgroup.procs", path.display()), USER)
            }
            Reader::Root => (&["--mount"], PLACES_OF_ROOT.to_owned(), 0),
        };
        chown(&home, Some(owner), Some(owner))?;
        chown(&runtime, Some(owner), Some(owner))?;
        let (home_words, programs) = (home.display(), programs.display());
        let script = format!(
            "{prepare} && cd {home_words} && exec setpriv --reuid {owner} --regid {owner} --clear-groups \
             env -i HOME={home_words} XDG_RUNTIME_DIR={home_words}/run \
             PATH={programs}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin TZ=UTC NO_COLOR=1 LANG=C.UTF-8 sh"
        );
        let mut child = Command::new("unshare")
            .args(namespaces)
            .args(["sh", "-c", &script])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let output = BufReader::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        Ok(Self { home, owner, child, input, output, _scratch: scratch })
    }

    /// Writes a file below the home, as the reader's own.
    pub(super) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.home.join(path);
        for directory in path.ancestors().skip(1).take_while(|directory| *directory != self.home) {
            fs::create_dir_all(directory)?;
            self.give(directory)?;
        }
        fs::write(&path, text)?;
        self.give(&path)
    }

    fn give(&self, path: &Path) -> io::Result<()> {
        chown(path, Some(self.owner), Some(self.owner))
    }

    /// Runs a command and returns its exit status and all that it printed.
    pub(super) fn run(&mut self, command: &str) -> Result<(i32, String), String> {
        let gone = |error: io::Error| format!("{command}: the shell has ended: {error}");
        // From a file, so that a program that reads its input does not read the next commands.
        let typed = self.home.join(".typed");
        fs::write(&typed, format!("{command}\n")).map_err(gone)?;
        writeln!(self.input, ". ./.typed </dev/null 2>&1; printf '\\036%s\\n' $?").map_err(gone)?;
        let mut text = String::new();
        loop {
            let from = text.len();
            if self.output.read_line(&mut text).map_err(gone)? == 0 {
                return Err(format!("{command}: the shell has ended, after\n{text}"));
            }
            if let Some((output, status)) = text[from..].split_once(SEPARATOR) {
                let status = status.trim().parse().map_err(|_| format!("{command}: no exit status"))?;
                let output = format!("{}{output}", &text[..from]);
                return Ok((status, output.replace(self.home.to_str().unwrap_or_default(), SHOWN_HOME)));
            }
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // What it started as well: root's has no table of processes of its own.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
