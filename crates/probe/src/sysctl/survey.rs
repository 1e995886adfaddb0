//! Properties and permissions of a machine.

use facts::linux::pid_status::PidStatus;
use facts::linux::version::KernelVersion;
use facts::sample::Absence;
use facts::unit::Bytes;

use super::Sysctl;
use crate::roots::{RootError, Roots};

/// Reads single facts of a machine.
pub(crate) struct Survey {
    sysctl: Sysctl,
}

impl Survey {
    /// Opens the root.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(roots: &Roots) -> Result<Self, RootError> {
        Ok(Self::of(Sysctl::open(roots)?))
    }

    pub(super) fn of(sysctl: Sysctl) -> Self {
        Self { sysctl }
    }

    pub(super) fn into_sysctl(self) -> Sysctl {
        self.sysctl
    }

    /// The kernel's release.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn release(&mut self) -> Result<String, Absence> {
        self.sysctl.text("kern.osrelease")
    }

    /// There are no such files.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn text(&mut self, _path: &str) -> Result<String, Absence> {
        Err(Absence::Unsupported)
    }

    /// There are no such files.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn exists(&self, _path: &str) -> Result<(), Absence> {
        Err(Absence::Unsupported)
    }

    /// It is no release of Linux.
    pub(crate) fn kernel_version(&mut self) -> Option<KernelVersion> {
        None
    }

    /// FreeBSD has no such limit.
    pub(crate) fn min_free(&mut self) -> Option<Bytes> {
        None
    }

    /// Bytes in a page of amd64.
    pub(crate) fn page_bytes(&self) -> u64 {
        4096
    }

    /// FreeBSD has no capabilities.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn own_status(&mut self) -> Result<PidStatus, Absence> {
        Err(Absence::Unsupported)
    }
}
