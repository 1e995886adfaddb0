//! Space of filesystems by statfs(2).
//!
//! For a local disk, the kernel has the values in memory. For a remote or FUSE filesystem, the call can hang for ever. A background
//! thread ([`BackgroundJob`]) makes it. The last result is kept, and marked as stale if it is requested again before the call returns.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use facts::linux::mounts::{self, Mount};
use facts::sample::{Absence, Filesystem, Reading, Space};

use super::files::{Buffer, Extent, KeptFile};
use crate::background_job::{BackgroundJob, Notifier};
use crate::roots::MachineDirectory;
use crate::space::{captured_space, space_of};

/// The filesystems that a view asked for.
#[derive(Debug)]
pub(crate) struct Filesystems {
    /// If empty, all filesystems that store files are read.
    paths: Vec<PathBuf>,
    mounts_file: KeptFile,
    mounts_bytes: Vec<u8>,
    asked: Vec<Asked>,
    notifier: Option<Notifier>,
    /// `ROOT/statfs`, lines of "target total free available inodes free_inodes" in bytes, of a captured machine.
    captured: Option<KeptFile>,
}

#[derive(Debug)]
struct Asked {
    mount: Mount,
    is_mount_point: bool,
    path: CString,
    /// Present if the call can hang.
    job: Option<BackgroundJob<Option<Space>>>,
}

/// A filesystem that is to be asked.
struct Wanted {
    path: PathBuf,
    mount: Mount,
    can_hang: bool,
    is_mount_point: bool,
}

impl Filesystems {
    pub(crate) fn open(root: &MachineDirectory, paths: &[PathBuf], notifier: Option<Notifier>) -> Self {
        Self {
            paths: paths.to_vec(),
            mounts_file: KeptFile::open(root, "proc/self/mounts", Extent::Records),
            mounts_bytes: Vec::new(),
            asked: Vec::new(),
            notifier,
            captured: root.is_captured().then(|| KeptFile::open(root, "statfs", Extent::Whole)),
        }
    }

    /// Reads the mount table, and parses it only if it has changed or no filesystem is known yet.
    pub(crate) fn rescan(&mut self, buffer: &mut Buffer) {
        let bytes = &mut self.mounts_bytes;
        let is_new = self.mounts_file.parse(buffer, |now| {
            let is_new = bytes.as_slice() != now;
            if is_new {
                bytes.clear();
                bytes.extend_from_slice(now);
            }
            Ok(is_new)
        });
        if is_new != Ok(true) && !self.asked.is_empty() {
            return;
        }
        let mut all = Vec::new();
        // Parsing stops at a malformed line. The mounts before it are used.
        let _ = mounts::parse(&self.mounts_bytes, &mut all);
        let mut wanted = Vec::new();
        if self.paths.is_empty() {
            // A device in /dev that is mounted several times (bind mounts, subvolumes) counts once, at its first mount.
            for mount in all.iter().filter(|mount| mount.is_storage()) {
                let is_same = |known: &Wanted| known.mount.source == mount.source;
                if !mount.source.starts_with(b"/dev/") || !wanted.iter().any(is_same) {
                    let path = path_of(&mount.target);
                    let can_hang = can_hang(&all, &path);
                    wanted.push(Wanted { path, mount: mount.clone(), can_hang, is_mount_point: true });
                }
            }
        } else {
            for path in &self.paths {
                let mut mount = mount_of(&all, path);
                let is_mount_point = path_of(&mount.target) == *path;
                // A path that is not the root of a mount may be a symlink to another filesystem.
                let can_hang = can_hang(&all, path) || !is_mount_point;
                // The output shows the path that the user requested, not the mount point.
                mount.target = path.as_os_str().as_bytes().into();
                wanted.push(Wanted { path: path.clone(), mount, can_hang, is_mount_point });
            }
        }
        let known = std::mem::take(&mut self.asked);
        self.asked =
            wanted.into_iter().filter_map(|wanted| asked(wanted, &known, self.notifier.as_ref())).collect();
    }

    /// Requests new values of the filesystems that can hang, from their background jobs.
    pub(crate) fn ask(&self) {
        self.asked.iter().filter_map(|asked| asked.job.as_ref()).for_each(BackgroundJob::request);
    }

    /// Fills `reading`: reads the local filesystems now, and takes the last results of the background jobs for the others.
    pub(crate) fn fill(&mut self, buffer: &mut Buffer, reading: &mut Reading<Vec<Filesystem>>) {
        reading.fill(|list| {
            list.resize_with(self.asked.len(), Filesystem::default);
            for (asked, entry) in self.asked.iter().zip(list.iter_mut()) {
                if entry.mount != asked.mount {
                    entry.mount.clone_from(&asked.mount);
                }
                entry.is_mount_point = asked.is_mount_point;
                (entry.space, entry.is_stale) = match &self.captured {
                    Some(file) => (space_in(file, buffer, &asked.mount.target), false),
                    None => asked.space(buffer),
                };
            }
            if list.is_empty() { Err(Absence::Unsupported) } else { Ok(()) }
        });
    }
}

impl Asked {
    fn space(&self, buffer: &mut Buffer) -> (Option<Space>, bool) {
        buffer.calls += 1;
        match &self.job {
            Some(job) => job.with_result(|answer, is_stale| (answer.copied().flatten(), is_stale)),
            None => (space_of(&self.path), false),
        }
    }
}

/// Prepares the reading of a filesystem. If it can hang, this takes over the background job of the same entry in `known`, or starts
/// one. Returns `None` if the path contains a zero byte.
fn asked(wanted: Wanted, known: &[Asked], notifier: Option<&Notifier>) -> Option<Asked> {
    let Wanted { path, mount, can_hang, is_mount_point } = wanted;
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let job = can_hang.then(|| {
        let before = known.iter().find(|known| known.path == path && known.mount == mount);
        before.and_then(|before| before.job.clone()).unwrap_or_else(|| {
            let path = path.clone();
            let job = BackgroundJob::start("statfs", notifier.cloned(), move || space_of(&path));
            job.request();
            job
        })
    });
    Some(Asked { mount, is_mount_point, path, job })
}

fn space_in(file: &KeptFile, buffer: &mut Buffer, target: &[u8]) -> Option<Space> {
    file.parse(buffer, |text| Ok(captured_space(text, target))).ok().flatten()
}

/// The mount that contains `path`: the mount with the longest target that is a prefix of it. If there are several, the last covers
/// the others.
fn mount_of(all: &[Mount], path: &Path) -> Mount {
    let leads = |mount: &&Mount| path.starts_with(path_of(&mount.target));
    let mount = all.iter().filter(leads).max_by_key(|mount| mount.target.len());
    mount.cloned().unwrap_or_default()
}

/// Returns true if a call on `path` can hang: any mount above it counts, because a local disk may be mounted inside a remote filesystem.
fn can_hang(all: &[Mount], path: &Path) -> bool {
    all.iter().any(|mount| mount.can_hang() && path.starts_with(path_of(&mount.target)))
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}
