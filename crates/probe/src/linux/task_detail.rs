//! Details of one task from /proc.

use facts::linux::cgroup::CgroupMembership;
use facts::linux::pid_cmdline;
use facts::linux::pid_stat::PidStat;
use facts::linux::pid_syscall::PidSyscall;
use facts::sample::Absence;
use facts::task::wait::Wait;
use rustix::fs::RawDir;
use std::mem::MaybeUninit;

use super::file_kind::wait_of_call;
use super::files::{Buffer, task_absence};
use crate::open_file::OpenFile;
use crate::roots::{MachineDirectory, RootError, Roots};

/// Reads single files of tasks.
pub(crate) struct LinuxTaskFiles {
    root: MachineDirectory,
    buffer: Buffer,
}

impl LinuxTaskFiles {
    /// Opens the root.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(roots: &Roots) -> Result<Self, RootError> {
        Ok(Self { root: roots.open()?, buffer: Buffer::new() })
    }

    /// A process's words, with blanks between; `None` if it has none (kernel threads, zombies).
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub(crate) fn command_line(&mut self, pid: u32) -> Result<Option<String>, Absence> {
        let bytes = self.read(&format!("proc/{pid}/cmdline"))?;
        let words: Vec<_> = pid_cmdline::words(bytes).map(String::from_utf8_lossy).collect();
        // Control characters in other programs' text must not move the cursor or ring the bell.
        let line: String =
            words.join(" ").chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
        Ok(Some(line).filter(|line| !line.is_empty()))
    }

    /// The path of its cgroup: of version 2, or where that is at its root of version 1's memory hierarchy.
    ///
    /// # Errors
    /// If it is gone or hidden, or there are no cgroups.
    pub(crate) fn cgroup(&mut self, pid: u32) -> Result<String, Absence> {
        let mut membership = CgroupMembership::default();
        let parsed = membership.parse(self.read(&format!("proc/{pid}/cgroup"))?);
        parsed.map_err(|_| Absence::Malformed)?;
        let unified = membership.unified.as_deref();
        let memory = membership.legacy_path(b"memory");
        let chosen = unified.filter(|path| *path != b"/").or(memory).or(unified);
        // Version 1 says "/" of a task that is ending, wherever it is.
        if chosen == memory && chosen == Some(b"/") && self.has_ended(pid) {
            return Err(Absence::Gone);
        }
        chosen.map(|path| String::from_utf8_lossy(path).into_owned()).ok_or(Absence::Unsupported)
    }

    fn has_ended(&mut self, pid: u32) -> bool {
        let mut stat = PidStat::default();
        let parsed = self.read(&format!("proc/{pid}/stat")).map(|bytes| stat.parse(bytes).is_ok());
        parsed != Ok(true) || b"ZX".contains(&stat.state)
    }

    /// /proc/PID/limits, a line each.
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub(crate) fn limits(&mut self, pid: u32) -> Result<Vec<String>, Absence> {
        let text = String::from_utf8_lossy(self.read(&format!("proc/{pid}/limits"))?).into_owned();
        Ok(text.lines().skip(1).map(|line| line.trim_end().to_owned()).collect())
    }

    /// Its open files, at most `most`, and how many there are.
    ///
    /// # Errors
    /// If it is gone or belongs to another user.
    pub(crate) fn open_files(&mut self, pid: u32, most: usize) -> Result<(Vec<OpenFile>, usize), Absence> {
        let directory = self.directory(&format!("proc/{pid}/fd"))?;
        let mut numbers = Vec::new();
        let mut memory = [MaybeUninit::uninit(); 8 * 1024];
        let mut listing = RawDir::new(&directory, &mut memory);
        while let Some(entry) = listing.next() {
            let entry = entry.map_err(task_absence)?;
            let number = entry.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        let target = |descriptor: u32| {
            Some(OpenFile { descriptor, target: directory.link_at(&descriptor.to_string()).ok()? })
        };
        Ok((numbers.iter().take(most).filter_map(|number| target(*number)).collect(), numbers.len()))
    }

    /// Where a link of its directory leads: `exe`, `cwd`, `root`.
    ///
    /// # Errors
    /// If it is gone or belongs to another user.
    pub(crate) fn link(&mut self, pid: u32, name: &str) -> Result<String, Absence> {
        self.root.link_at(&format!("proc/{pid}/{name}")).map_err(task_absence)
    }

    /// Reads what a thread of a process waits for; `None` if it runs, or the numbers of the machine's system calls are not known.
    ///
    /// # Errors
    /// If it is gone or belongs to another user.
    pub(crate) fn wait(&mut self, pid: u32, tid: u32) -> Result<Option<Wait>, Absence> {
        let call = PidSyscall::parse(self.read(&format!("proc/{pid}/task/{tid}/syscall"))?);
        let call = call.map_err(|_| Absence::Malformed)?;
        Ok(wait_of_call(&self.root, &mut self.buffer, pid, call))
    }

    fn read(&mut self, path: &str) -> Result<&[u8], Absence> {
        self.buffer.read_once(&self.root, path).map_err(task_absence)
    }

    fn directory(&self, path: &str) -> Result<MachineDirectory, Absence> {
        self.root.directory_at(path).map_err(task_absence)
    }
}
