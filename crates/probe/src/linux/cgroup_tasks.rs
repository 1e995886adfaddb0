//! The tasks of a cgroup and of those below it, in either version.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use facts::cgroup_name::CgroupName;
use facts::cursor::{Cursor, lines};
use facts::linux::mounts;

/// So many directories of a hierarchy are looked at for a name.
const MAX_SEARCHED: usize = 50_000;
/// So many of several with one name are listed.
const MAX_LISTED: usize = 5;

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
    /// Finds a cgroup by its directory, by its path within a hierarchy, or by the name of its unit or container; v2 is looked through first.
    /// `is_called` says whether the container of an id has the name.
    ///
    /// # Errors
    /// If no hierarchy has it, or several have the name.
    pub fn find(path: &Path, is_called: &dyn Fn(&str) -> bool) -> io::Result<Self> {
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
        if let Some(found) = found {
            return Ok(found);
        }
        for hierarchy in hierarchies() {
            match named(hierarchy, &path.to_string_lossy(), is_called).as_slice() {
                [] => {}
                [directory] => {
                    let version = version_of(directory).ok_or(io::ErrorKind::NotFound)?;
                    let path = path_within(directory.strip_prefix(hierarchy).unwrap_or(directory));
                    return Ok(Self { directory: directory.clone(), path, version });
                }
                several => {
                    let below = several.iter().filter_map(|directory| directory.strip_prefix(hierarchy).ok());
                    let paths: Vec<_> = below.take(MAX_LISTED).map(path_within).collect();
                    let sentence = format!("several have that name: {}", paths.join(", "));
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, sentence));
                }
            }
        }
        Err(io::Error::new(io::ErrorKind::NotFound, "no cgroup of that name in any hierarchy"))
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
            for directory in directories_in(directory) {
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

/// The cgroups directly below one.
fn directories_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.map(|entry| entry.path()).collect()
}

/// Returns the directories of a hierarchy's cgroups that are a unit or a container of this name. The name of a container may also be its id, or the
/// beginning of it.
fn named(hierarchy: &Path, name: &str, is_called: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if name.contains('/') {
        return found;
    }
    let mut directories = vec![hierarchy.to_owned()];
    let mut next = 0;
    while let Some(directory) = directories.get(next).filter(|_| next < MAX_SEARCHED) {
        for directory in directories_in(directory) {
            let path = path_within(directory.strip_prefix(hierarchy).unwrap_or(&directory));
            let of_path = CgroupName::of(&path);
            let container = of_path.container_name();
            let is_id = name.starts_with(container) && path.contains(name);
            let is_named = || of_path.ids().next().is_some_and(is_called);
            let is_container = !container.is_empty() && (name == container || is_id || is_named());
            // What is in it is found with it.
            if is_container || directory.file_name().is_some_and(|file| file == name) {
                found.push(directory);
            } else {
                directories.push(directory);
            }
        }
        next += 1;
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";

    #[test]
    fn units_and_containers_are_found() {
        let hierarchy = std::env::temp_dir().join(format!("whit-cgroups-{}", std::process::id()));
        let container = format!("system.slice/docker-{ID}.scope");
        let paths = [
            "system.slice/nginx.service/worker",
            "a/x.scope",
            "b/x.scope",
            &format!("{container}/init.scope"),
        ];
        for path in paths {
            fs::create_dir_all(hierarchy.join(path)).unwrap();
        }
        let found = |name: &str| {
            let mut found: Vec<_> = named(&hierarchy, name, &|id| name == "shop-db" && id == ID)
                .iter()
                .map(|path| path_within(path.strip_prefix(&hierarchy).unwrap()))
                .collect();
            found.sort();
            found
        };
        assert_eq!(found("nginx.service"), ["/system.slice/nginx.service"]);
        assert_eq!(found("x.scope"), ["/a/x.scope", "/b/x.scope"]);
        for name in [&ID[..12], ID, "shop-db"] {
            assert_eq!(found(name), [format!("/{container}")]);
        }
        assert_eq!(
            [found("3f2a"), found("none"), found("a/x.scope"), found("")],
            [const { Vec::<String>::new() }; 4]
        );
        fs::remove_dir_all(&hierarchy).unwrap();
    }
}
