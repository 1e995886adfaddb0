//! What a machine is and permits.

use facts::linux::pid_status::PidStatus;
use facts::linux::version::KernelVersion;
use facts::sample::Absence;
use facts::unit::Bytes;
use rustix::process::getppid;

use super::sysctl::Sysctl;
use super::tasks::kinfo_of;
use crate::roots::{RootError, Roots};
use crate::sys::system_constant;

/// Reads single facts of a machine.
pub struct Survey {
    sysctl: Sysctl,
}

impl Survey {
    /// Opens the root.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn open(roots: &Roots) -> Result<Self, RootError> {
        roots.open_live()?;
        Ok(Self { sysctl: Sysctl::default() })
    }

    /// The kernel's name.
    pub fn system(&self) -> &'static str {
        "FreeBSD"
    }

    /// The kernel's release.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn release(&mut self) -> Result<String, Absence> {
        self.sysctl.text("kern.osrelease")
    }

    /// There are no such files.
    ///
    /// # Errors
    /// Always.
    pub fn text(&mut self, _path: &str) -> Result<String, Absence> {
        Err(Absence::Unsupported)
    }

    /// There are no such files.
    ///
    /// # Errors
    /// Always.
    pub fn exists(&self, _path: &str) -> Result<(), Absence> {
        Err(Absence::Unsupported)
    }

    /// It is no release of Linux.
    pub fn kernel_version(&mut self) -> Option<KernelVersion> {
        None
    }

    /// FreeBSD has no such limit.
    pub fn min_free(&mut self) -> Option<Bytes> {
        None
    }

    /// Bytes in a page.
    pub fn page_bytes(&self) -> u64 {
        system_constant(libc::_SC_PAGESIZE).unwrap_or(4096)
    }

    /// FreeBSD has no capabilities.
    ///
    /// # Errors
    /// Always.
    pub fn own_status(&mut self) -> Result<PidStatus, Absence> {
        Err(Absence::Unsupported)
    }
}

/// The names of the processes that started this one, its parent's first.
pub fn ancestors(generations: usize) -> Vec<String> {
    let (mut names, mut sysctl) = (Vec::new(), Sysctl::default());
    let mut pid = getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    while let Some(now) = pid.filter(|_| names.len() < generations) {
        let Ok(process) = kinfo_of(&mut sysctl, now) else { break };
        names.push(process.row.comm.as_str().to_owned());
        pid = process.row.ppid.filter(|ppid| *ppid > 0);
    }
    names
}
