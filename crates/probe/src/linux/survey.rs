//! Properties and permissions of a machine: read once, for `whit doctor` and for what depends on the kernel's release.

use facts::linux::pid_status::PidStatus;
use facts::linux::version::KernelVersion;
use facts::sample::Absence;
use facts::unit::Bytes;
use rustix::io::Errno;

use super::files::{Buffer, absence};
use crate::roots::{MachineDirectory, RootError, Roots};
use crate::sys::system_constant;

/// Reads single files of a machine.
pub(crate) struct Survey {
    root: MachineDirectory,
    buffer: Buffer,
}

impl Survey {
    /// Opens the root.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(roots: &Roots) -> Result<Self, RootError> {
        Ok(Self { root: roots.open()?, buffer: Buffer::new() })
    }

    /// The kernel's release.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn release(&mut self) -> Result<String, Absence> {
        self.text("/proc/sys/kernel/osrelease")
    }

    /// A file's text without blanks around it; bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn text(&mut self, path: &str) -> Result<String, Absence> {
        let bytes = self.read(path).map_err(absence)?;
        Ok(String::from_utf8_lossy(bytes).trim().to_owned())
    }

    /// Checks that a file or directory is there, and may be looked at.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn exists(&self, path: &str) -> Result<(), Absence> {
        self.root.look_at(path.trim_start_matches('/')).map_err(absence)
    }

    /// The kernel's release; `None` if it cannot be read.
    pub(crate) fn kernel_version(&mut self) -> Option<KernelVersion> {
        let mut version = KernelVersion::default();
        let bytes = self.read("/proc/sys/kernel/osrelease").ok()?;
        version.parse(bytes).ok()?;
        Some(version)
    }

    /// Returns the memory that the kernel keeps free; `None` if it cannot be read.
    pub(crate) fn min_free(&mut self) -> Option<Bytes> {
        let kib = self.text("/proc/sys/vm/min_free_kbytes").ok()?;
        kib.parse().ok().map(Bytes::from_kib)
    }

    /// Bytes in a page: this machine's, and 4096 for a captured one.
    pub(crate) fn page_bytes(&self) -> u64 {
        if self.root.is_captured() { 4096 } else { system_constant(libc::_SC_PAGESIZE).unwrap_or(4096) }
    }

    /// whit's own status: capabilities and user.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn own_status(&mut self) -> Result<PidStatus, Absence> {
        let mut status = PidStatus::default();
        let bytes = self.read("/proc/self/status").map_err(absence)?;
        status.parse(bytes).map_err(|_| Absence::Malformed)?;
        Ok(status)
    }

    fn read(&mut self, path: &str) -> Result<&[u8], Errno> {
        self.buffer.read_once(&self.root, path.trim_start_matches('/'))
    }
}
