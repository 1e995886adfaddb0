//! Captures of machines: copies of what the kernel says, which `--root` reads in place of the kernel.
//!
//! A capture of Linux contains files of /proc and /sys, a capture of FreeBSD the replies of sysctl(3). Both contain `statfs`, the space
//! of filesystems. Command lines, environments and serial numbers are left out, and only the user who makes a capture can read it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use facts::sample::Sample;
use facts::source::{Source, Wanted};

use crate::capture_directory::Capture;
pub use crate::capture_directory::CaptureError;
use crate::probe::Probe;
use crate::request::Request;
use crate::roots::{RootError, Roots, System};

/// How long a remote filesystem is waited for.
const FILESYSTEM_TIMEOUT: Duration = Duration::from_millis(200);

/// Captures a machine into a new directory, and returns the number of files.
///
/// # Errors
/// If the machine cannot be opened, or the directory exists or cannot be written.
pub fn capture(roots: &Roots, directory: &Path) -> Result<u64, CaptureError> {
    let system = roots.system()?;
    // Before the directory is made.
    let space = space_of_filesystems(roots, system)?;
    let mut capture = Capture::create(directory)?;
    match system {
        #[cfg(target_os = "linux")]
        System::Linux => crate::linux::capture::write(roots, &mut capture)?,
        System::FreeBsd => crate::sysctl::capture::write(roots, &mut capture)?,
    }
    if !space.is_empty() {
        capture.write("statfs", &space)?;
    }
    Ok(capture.files())
}

/// Lines of "mount size free available inodes free_inodes", in bytes: of all filesystems that store files, and of the root.
fn space_of_filesystems(roots: &Roots, system: System) -> Result<Vec<u8>, RootError> {
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

fn space_lines(roots: &Roots, filesystems: Vec<PathBuf>, lines: &mut Vec<Vec<u8>>) -> Result<(), RootError> {
    let request = Request { wanted: Wanted::from([Source::Filesystems]), filesystems, notifier: None };
    let (mut probe, mut sample) = (Probe::open(roots, &request)?, Sample::default());
    probe.sample(&mut sample);
    if sample.has_stale_filesystem() {
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
        numbers.iter().for_each(|number| line.extend(format!(" {number}").bytes()));
        line.push(b'\n');
        lines.push(line);
    }
    Ok(())
}
