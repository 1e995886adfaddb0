//! Properties and permissions of a machine: read once, for `whit doctor` and for what depends on the kernel's release.

use facts::linux::pid_status::PidStatus;
use facts::linux::version::KernelVersion;
use facts::sample::Absence;
use facts::unit::Bytes;

#[cfg(target_os = "linux")]
use crate::linux::survey::Survey as LinuxSurvey;
use crate::roots::{RootError, Roots, System};
use crate::sysctl::survey::Survey as FreeBsdSurvey;

/// Reads single facts of a machine.
pub struct Survey(Reader);

enum Reader {
    #[cfg(target_os = "linux")]
    Linux(LinuxSurvey),
    FreeBsd(FreeBsdSurvey),
}

impl Survey {
    /// Opens the root.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(roots: &Roots) -> Result<Self, RootError> {
        Ok(Self(match roots.system()? {
            #[cfg(target_os = "linux")]
            System::Linux => Reader::Linux(LinuxSurvey::open(roots)?),
            System::FreeBsd => Reader::FreeBsd(FreeBsdSurvey::open(roots)?),
        }))
    }

    /// The kernel's name.
    pub fn system(&self) -> &'static str {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Reader::Linux(_) => "Linux",
            Reader::FreeBsd(_) => "FreeBSD",
        }
    }

    /// The kernel's release.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn release(&mut self) -> Result<String, Absence> {
        of_system!(Reader, &mut self.0, survey => survey.release())
    }

    /// A file's text without surrounding blanks; bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// Why it cannot be read. FreeBSD has no such files.
    pub fn text(&mut self, path: &str) -> Result<String, Absence> {
        of_system!(Reader, &mut self.0, survey => survey.text(path))
    }

    /// Checks that a file or directory exists and may be looked at.
    ///
    /// # Errors
    /// Why not. FreeBSD has no such files.
    pub fn exists(&self, path: &str) -> Result<(), Absence> {
        of_system!(Reader, &self.0, survey => survey.exists(path))
    }

    /// The release of Linux; `None` if it cannot be read, or on another system.
    pub fn kernel_version(&mut self) -> Option<KernelVersion> {
        of_system!(Reader, &mut self.0, survey => survey.kernel_version())
    }

    /// Returns the memory that Linux keeps free; `None` if it cannot be read, or on another system.
    pub fn min_free(&mut self) -> Option<Bytes> {
        of_system!(Reader, &mut self.0, survey => survey.min_free())
    }

    /// Bytes in a page: this machine's, and 4096 for a captured one.
    pub fn page_bytes(&self) -> u64 {
        of_system!(Reader, &self.0, survey => survey.page_bytes())
    }

    /// whit's own status: capabilities and user.
    ///
    /// # Errors
    /// Why it cannot be read. FreeBSD has no capabilities.
    pub fn own_status(&mut self) -> Result<PidStatus, Absence> {
        of_system!(Reader, &mut self.0, survey => survey.own_status())
    }
}
