//! Details of single tasks that no reading of all tasks contains.

use facts::sample::Absence;
use facts::task::wait::Wait;

#[cfg(target_os = "linux")]
use crate::linux::task_detail::LinuxTaskFiles;
pub use crate::open_file::OpenFile;
use crate::roots::{RootError, Roots, System};

/// Reads details of single tasks.
pub struct TaskFiles(Reader);

enum Reader {
    #[cfg(target_os = "linux")]
    Linux(LinuxTaskFiles),
    /// Nothing that whit reads on FreeBSD.
    FreeBsd(Nothing),
}

impl TaskFiles {
    /// Opens the root.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(roots: &Roots) -> Result<Self, RootError> {
        Ok(Self(match roots.system()? {
            #[cfg(target_os = "linux")]
            System::Linux => Reader::Linux(LinuxTaskFiles::open(roots)?),
            System::FreeBsd => Reader::FreeBsd(Nothing),
        }))
    }

    /// A process's words, separated by blanks; `None` if it has none (kernel threads, zombies).
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub fn command_line(&mut self, pid: u32) -> Result<Option<String>, Absence> {
        of_system!(Reader, &mut self.0, files => files.command_line(pid))
    }

    /// The path of its cgroup: of version 2; if that is the root, of version 1's memory hierarchy.
    ///
    /// # Errors
    /// If it is gone or hidden, or there are no cgroups.
    pub fn cgroup(&mut self, pid: u32) -> Result<String, Absence> {
        of_system!(Reader, &mut self.0, files => files.cgroup(pid))
    }

    /// /proc/PID/limits, a line each.
    ///
    /// # Errors
    /// If it is gone or hidden.
    pub fn limits(&mut self, pid: u32) -> Result<Vec<String>, Absence> {
        of_system!(Reader, &mut self.0, files => files.limits(pid))
    }

    /// Its open files, at most `most`, and how many there are.
    ///
    /// # Errors
    /// If it is gone or belongs to another user.
    pub fn open_files(&mut self, pid: u32, most: usize) -> Result<(Vec<OpenFile>, usize), Absence> {
        of_system!(Reader, &mut self.0, files => files.open_files(pid, most))
    }

    /// Where a link of its directory leads: `exe`, `cwd`, `root`.
    ///
    /// # Errors
    /// If it is gone or belongs to another user.
    pub fn link(&mut self, pid: u32, name: &str) -> Result<String, Absence> {
        of_system!(Reader, &mut self.0, files => files.link(pid, name))
    }

    /// Reads what a thread of a process waits for; `None` if it runs, or this machine does not say it.
    ///
    /// # Errors
    /// If it is gone or belongs to another user.
    pub fn wait(&mut self, pid: u32, tid: u32) -> Result<Option<Wait>, Absence> {
        of_system!(Reader, &mut self.0, files => files.wait(pid, tid))
    }
}

/// Reads nothing.
struct Nothing;

impl Nothing {
    fn command_line(&mut self, _pid: u32) -> Result<Option<String>, Absence> {
        Err(Absence::Unsupported)
    }

    fn cgroup(&mut self, _pid: u32) -> Result<String, Absence> {
        Err(Absence::Unsupported)
    }

    fn limits(&mut self, _pid: u32) -> Result<Vec<String>, Absence> {
        Err(Absence::Unsupported)
    }

    fn open_files(&mut self, _pid: u32, _most: usize) -> Result<(Vec<OpenFile>, usize), Absence> {
        Err(Absence::Unsupported)
    }

    fn link(&mut self, _pid: u32, _name: &str) -> Result<String, Absence> {
        Err(Absence::Unsupported)
    }

    fn wait(&mut self, _pid: u32, _tid: u32) -> Result<Option<Wait>, Absence> {
        Err(Absence::Unsupported)
    }
}
