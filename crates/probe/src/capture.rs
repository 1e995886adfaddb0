//! Captures of machines: copies of what the kernel says, which `--root` reads in place of the kernel.
//!
//! A capture of Linux contains files of /proc and /sys, a capture of FreeBSD the replies of sysctl(3). Both contain `statfs`, the space
//! of filesystems. Command lines and environments of processes are left out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use facts::sample::Sample;
use facts::source::{Source, Wanted};

use crate::roots::{RootError, Roots, System};
use crate::{Probe, Request};

/// How long a remote filesystem is waited for.
const FILESYSTEM_TIMEOUT: Duration = Duration::from_millis(200);

/// Why a machine could not be captured.
#[derive(Debug)]
pub enum CaptureError {
    /// The machine cannot be opened.
    Root(RootError),
    /// A file of the capture cannot be written.
    Write(PathBuf, io::Error),
}

impl From<RootError> for CaptureError {
    fn from(error: RootError) -> Self {
        Self::Root(error)
    }
}

/// A capture that is being written.
#[derive(Debug)]
pub(crate) struct Capture {
    directory: PathBuf,
    files: u64,
}

impl Capture {
    /// Writes a file, with the directories above it.
    pub(crate) fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), CaptureError> {
        let path = self.directory.join(path);
        let parent = path.parent().unwrap_or(&self.directory);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes));
        written.map_err(|error| CaptureError::Write(path, error))?;
        self.files += 1;
        Ok(())
    }
}

/// Captures a machine into a new directory, and returns the number of files.
///
/// # Errors
/// If the machine cannot be opened, or the directory exists or cannot be written.
pub fn capture(roots: &Roots, directory: &Path) -> Result<u64, CaptureError> {
    let system = roots.system()?;
    fs::create_dir(directory).map_err(|error| CaptureError::Write(directory.to_owned(), error))?;
    let mut capture = Capture { directory: directory.to_owned(), files: 0 };
    match system {
        #[cfg(target_os = "linux")]
        System::Linux => crate::linux::capture::write(roots, &mut capture)?,
        System::FreeBsd => crate::sysctl::capture::write(roots, &mut capture)?,
    }
    let space = space_of_filesystems(roots, system)?;
    if !space.is_empty() {
        capture.write("statfs", space.as_bytes())?;
    }
    Ok(capture.files)
}

/// Lines of "mount size free available inodes free_inodes", in bytes: of all filesystems that store files, and of the root.
fn space_of_filesystems(roots: &Roots, system: System) -> Result<String, RootError> {
    let mut lines = Vec::new();
    // whit does not list the mounts of FreeBSD.
    if system != System::FreeBsd {
        space_lines(roots, Vec::new(), &mut lines)?;
    }
    space_lines(roots, vec![PathBuf::from("/")], &mut lines)?;
    lines.sort();
    lines.dedup();
    Ok(lines.concat())
}

fn space_lines(roots: &Roots, filesystems: Vec<PathBuf>, lines: &mut Vec<String>) -> Result<(), RootError> {
    let request = Request { wanted: Wanted::from([Source::Filesystems]), filesystems, notifier: None };
    let (mut probe, mut sample) = (Probe::open(roots, &request)?, Sample::default());
    probe.sample(&mut sample);
    let is_waiting =
        |sample: &Sample| sample.filesystems.get().is_ok_and(|all| all.iter().any(|one| one.is_stale));
    if is_waiting(&sample) {
        std::thread::sleep(FILESYSTEM_TIMEOUT);
        probe.collect(&mut sample);
    }
    for filesystem in sample.filesystems.get().map_or(&[][..], |all| all) {
        let Some(space) = filesystem.space else { continue };
        let mut line = Vec::new();
        // As in /proc/self/mounts.
        for byte in &filesystem.mount.target {
            match byte {
                b' ' | b'\t' | b'\n' | b'\\' => line.extend(format!("\\{byte:03o}").bytes()),
                byte => line.push(*byte),
            }
        }
        let numbers = [space.total.0, space.free.0, space.available.0, space.inodes, space.free_inodes];
        let mut line = String::from_utf8_lossy(&line).into_owned();
        numbers.iter().for_each(|number| line.push_str(&format!(" {number}")));
        line.push('\n');
        lines.push(line);
    }
    Ok(())
}
