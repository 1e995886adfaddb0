//! The tasks of a cgroup and of those below it, in either version.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use facts::cursor::{Cursor, lines};
use facts::linux::mounts;

/// A cgroup's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// Its directory.
    pub directory: PathBuf,
    /// Its path within the hierarchy, as in /proc/PID/cgroup: `/` and below.
    pub path: String,
    /// 1 or 2.
    pub version: u8,
}

impl Cgroup {
    /// Finds a cgroup by its directory, or by its path within a hierarchy, of which v2 is looked through first.
    ///
    /// # Errors
    /// If no hierarchy has it.
    pub fn find(path: &Path) -> io::Result<Self> {
        let mut all = Vec::new();
        // A line that cannot be read ends the list; the mounts before it stand.
        let _ = mounts::parse(&fs::read("/proc/self/mounts")?, &mut all);
        all.retain(|mount| mount.filesystem.starts_with(b"cgroup"));
        all.sort_by_key(|mount| mount.filesystem != b"cgroup2");
        let hierarchies = || all.iter().map(|mount| Path::new(OsStr::from_bytes(&mount.target)));
        if let Some(version) = version_of(path) {
            let directory = fs::canonicalize(path)?;
            let below = hierarchies().find_map(|hierarchy| directory.strip_prefix(hierarchy).ok());
            let path = path_within(below.unwrap_or(&directory));
            return Ok(Self { directory, path, version });
        }
        let below = path.strip_prefix("/").unwrap_or(path);
        let found = hierarchies().map(|hierarchy| hierarchy.join(below)).find_map(|directory| {
            let version = version_of(&directory)?;
            Some(Self { directory, path: path_within(below), version })
        });
        found
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no cgroup of that name in any hierarchy"))
    }

    /// The cgroup's directory and those below it, each with the tids of its tasks added to `tids`.
    ///
    /// # Errors
    /// If the cgroup itself cannot be read; one below it that went meanwhile is left out.
    pub fn tasks(&self, tids: &mut Vec<u32>) -> io::Result<Vec<PathBuf>> {
        tids.clear();
        self.read_tasks(&self.directory, tids)?;
        let mut directories = vec![self.directory.clone()];
        let mut next = 0;
        while let Some(directory) = directories.get(next) {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let below: Vec<_> = entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path())
                .collect();
            for directory in below {
                if self.read_tasks(&directory, tids).is_ok() {
                    directories.push(directory);
                }
            }
            next += 1;
        }
        Ok(directories)
    }

    fn read_tasks(&self, directory: &Path, tids: &mut Vec<u32>) -> io::Result<()> {
        let name = if self.version == 1 { "tasks" } else { "cgroup.threads" };
        let text = fs::read(directory.join(name))?;
        tids.extend(lines(&text).filter_map(|line| tid(line)));
        Ok(())
    }
}

fn path_within(below: &Path) -> String {
    format!("/{}", below.to_string_lossy().trim_matches('/'))
}

fn tid(mut line: Cursor<'_>) -> Option<u32> {
    u32::try_from(line.number()?).ok().filter(|tid| *tid > 0)
}

/// v1 has a file `tasks`, v2 has `cgroup.threads` (4.14); both have `cgroup.procs`, which other directories have not.
fn version_of(directory: &Path) -> Option<u8> {
    if !directory.join("cgroup.procs").exists() {
        return None;
    }
    match (directory.join("tasks").exists(), directory.join("cgroup.threads").exists()) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    }
}
