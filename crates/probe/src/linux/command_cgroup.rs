//! A cgroup of a command's own: whatever descends from the command stays in it, whichever user it becomes and
//! whichever process is its parent, and all of it can be killed by one write, which includes processes that are forked meanwhile.
//!
//! Needs cgroup v2 with `cgroup.kill` (Linux 5.14) and the right to make a cgroup below whit's own: root has it, and users have it
//! where their session is delegated to them.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use facts::linux::cgroup::CgroupMembership;
use facts::linux::mounts;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal, test_kill_process};

use super::control::native;
use crate::signal::TaskSignal;

/// A cgroup that is removed with this value. Processes that are left in it then are moved to whit's own cgroup.
#[derive(Debug)]
pub struct CommandCgroup {
    directory: PathBuf,
    processes: OwnedFd,
}

impl CommandCgroup {
    /// Makes one below whit's own cgroup, called by these words, whit's process id and `random` digits. Others of the same words that
    /// are empty and whose whit was killed are removed.
    ///
    /// # Errors
    /// `Unsupported` without cgroup v2 or `cgroup.kill`; else what mkdir(2) says.
    pub fn make(words: &str, random: &str) -> io::Result<Self> {
        let parent = own_directory()?.ok_or(io::ErrorKind::Unsupported)?;
        remove_abandoned(&parent, words);
        let directory = parent.join(format!("{words}-{}-{random}", std::process::id()));
        fs::create_dir(&directory)?;
        let opened = File::options().write(true).open(directory.join("cgroup.procs"));
        let has_kill = directory.join("cgroup.kill").exists();
        match opened {
            Ok(processes) if has_kill => Ok(Self { directory, processes: processes.into() }),
            refused => {
                let _ = fs::remove_dir(&directory);
                Err(refused.err().unwrap_or_else(|| io::ErrorKind::Unsupported.into()))
            }
        }
    }

    /// Where a process that writes "0" moves itself here.
    pub fn processes_file(&self) -> BorrowedFd<'_> {
        self.processes.as_fd()
    }

    /// The processes in it and in the cgroups that were made below it.
    pub fn processes(&self) -> Vec<u32> {
        let mut pids = Vec::new();
        for directory in self.directories() {
            let text = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
            pids.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()).filter(|pid| *pid > 0));
        }
        pids
    }

    /// Sends a signal to each process. One that has ended meanwhile, or may not be signalled, is passed over. Returns those that got it, unless
    /// the kernel killed all of them at once.
    pub fn send_all(&self, signal: TaskSignal) -> Vec<u32> {
        if signal == TaskSignal::Kill && fs::write(self.directory.join("cgroup.kill"), "1").is_ok() {
            return Vec::new();
        }
        let pid = |pid: u32| Pid::from_raw(pid.cast_signed());
        let held: Vec<(u32, OwnedFd)> = self
            .processes()
            .into_iter()
            .filter_map(|id| Some((id, pidfd_open(pid(id)?, PidfdFlags::empty()).ok()?)))
            .collect();
        // Looked at again now that they are held: a number may have become another process' in between.
        let still = self.processes();
        let same = held.iter().filter(|(id, _)| still.contains(id));
        same.filter(|(_, descriptor)| pidfd_send_signal(descriptor, native(signal)).is_ok())
            .map(|(id, _)| *id)
            .collect()
    }

    /// It and the cgroups below it, from the top.
    fn directories(&self) -> Vec<PathBuf> {
        let mut directories = vec![self.directory.clone()];
        let mut next = 0;
        while let Some(directory) = directories.get(next) {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
            directories.extend(below);
            next += 1;
        }
        directories
    }
}

/// Removes what killed whits left. One that has a process in it, or another cgroup, the kernel does not remove.
fn remove_abandoned(parent: &Path, words: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let other = entry.file_name();
        let rest = other.to_str().and_then(|other| other.strip_prefix(words)?.strip_prefix('-'));
        let pid = rest.and_then(|rest| rest.split('-').next()?.parse::<i32>().ok()).and_then(Pid::from_raw);
        if pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

impl Drop for CommandCgroup {
    fn drop(&mut self) {
        if let Some(parent) = self.directory.parent() {
            for pid in self.processes() {
                let _ = fs::write(parent.join("cgroup.procs"), pid.to_string());
            }
        }
        for directory in self.directories().iter().rev() {
            // Busy for a moment while the last of its processes is on its way out.
            for _ in 0..20 {
                match fs::remove_dir(directory) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// The directory of the cgroup that this process is in, in the v2 hierarchy; none without one.
fn own_directory() -> io::Result<Option<PathBuf>> {
    let mut all = Vec::new();
    // A line that cannot be read ends the list; the mounts before it stand.
    let _ = mounts::parse(&fs::read("/proc/self/mounts")?, &mut all);
    let mut own = CgroupMembership::default();
    let is_known = own.parse(&fs::read("/proc/self/cgroup")?).is_ok();
    let mount = all.iter().find(|mount| mount.filesystem == b"cgroup2");
    let (Some(mount), Some(path), true) = (mount, &own.unified, is_known) else { return Ok(None) };
    let target: &std::ffi::OsStr = OsStrExt::from_bytes(&mount.target);
    let below = path.strip_prefix(b"/").unwrap_or(path);
    Ok(Some(Path::new(target).join(<std::ffi::OsStr as OsStrExt>::from_bytes(below))))
}
