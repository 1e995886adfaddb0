//! The limits of the cgroup that whit itself runs in: what a container may use.

use facts::linux::cgroup::CgroupMembership;
use facts::linux::cgroup_memory::{self, CgroupMemoryField as Field, CgroupMemoryStat};
use facts::linux::mounts::{self, Mount};
use facts::sample::{Absence, CgroupLimits};

use super::files::{Buffer, Extent, KeptFile};
use crate::roots::RootDirectory;

/// The files of the tightest memory limit on the way from the own cgroup to the root.
#[derive(Debug)]
pub(crate) struct CgroupFiles {
    version: u8,
    memory: Option<MemoryFiles>,
}

#[derive(Debug)]
struct MemoryFiles {
    limit: KeptFile,
    usage: KeptFile,
    stat: KeptFile,
}

/// A hierarchy in which memory is limited, as found in the mounts.
struct Hierarchy {
    version: u8,
    /// The mount and the own path below it, without slashes at either end.
    mount: String,
    path: String,
}

/// Finds where `controller` is governed: in v2 unless a v1 mount claims it.
fn hierarchy(mounts: &[Mount], own: &CgroupMembership, controller: &[u8]) -> Option<Hierarchy> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_matches('/').to_owned();
    let v1 = mounts.iter().find(|mount| mount.filesystem == b"cgroup" && mount.has_option(controller));
    if let Some(mount) = v1 {
        let path = text(own.legacy_path(controller)?);
        return Some(Hierarchy { version: 1, mount: text(&mount.target), path });
    }
    let mount = mounts.iter().find(|mount| mount.filesystem == b"cgroup2")?;
    Some(Hierarchy { version: 2, mount: text(&mount.target), path: text(own.unified.as_deref()?) })
}

impl CgroupFiles {
    pub(crate) fn open(root: &RootDirectory, buffer: &mut Buffer) -> Self {
        let mounts = read_mounts(root, buffer);
        let mut own = CgroupMembership::default();
        let found = buffer.read_once(root, "proc/self/cgroup").ok().and_then(|bytes| own.parse(bytes).ok());
        let hierarchy = found.and_then(|()| hierarchy(&mounts, &own, b"memory"));
        let Some(hierarchy) = hierarchy else { return Self { version: 0, memory: None } };
        let memory = tightest(root, buffer, &hierarchy);
        Self { version: hierarchy.version, memory }
    }

    pub(crate) fn read(&self, buffer: &mut Buffer, limits: &mut CgroupLimits) -> Result<(), Absence> {
        *limits = CgroupLimits { version: self.version, ..CgroupLimits::default() };
        if self.version == 0 {
            return Err(Absence::Unsupported);
        }
        let Some(files) = &self.memory else { return Ok(()) };
        limits.memory_limit = files.limit.parse(buffer, cgroup_memory::limit)?;
        limits.memory_usage = Some(files.usage.parse(buffer, cgroup_memory::usage)?);
        let mut stat = CgroupMemoryStat::default();
        files.stat.parse(buffer, |bytes| stat.parse(bytes))?;
        limits.file_cache = stat.either(Field::File, Field::TotalCache);
        limits.shmem = stat.either(Field::Shmem, Field::TotalShmem);
        limits.inactive_file = stat.either(Field::InactiveFile, Field::TotalInactiveFile);
        limits.active_file = stat.either(Field::ActiveFile, Field::TotalActiveFile);
        Ok(())
    }
}

fn tightest(root: &RootDirectory, buffer: &mut Buffer, hierarchy: &Hierarchy) -> Option<MemoryFiles> {
    let (limit_name, usage_name) = match hierarchy.version {
        1 => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        _ => ("memory.max", "memory.current"),
    };
    let mut tightest = None;
    let mut path = hierarchy.path.as_str();
    loop {
        let directory = format!("{}/{path}", hierarchy.mount);
        let file = |name| KeptFile::open(root, &format!("{directory}/{name}"), Extent::Whole);
        let limit_file = file(limit_name);
        // A path of the host that a container does not see, or the root of v2, has no such file: one level up, then.
        if let Ok(Some(limit)) = limit_file.parse(buffer, cgroup_memory::limit)
            && tightest.as_ref().is_none_or(|(tighter, _)| limit < *tighter)
        {
            let files = MemoryFiles { limit: limit_file, usage: file(usage_name), stat: file("memory.stat") };
            tightest = Some((limit, files));
        }
        if path.is_empty() {
            return tightest.map(|(_, files)| files);
        }
        path = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
}

/// The mounts of a machine, read once.
fn read_mounts(root: &RootDirectory, buffer: &mut Buffer) -> Vec<Mount> {
    let mut list = Vec::new();
    if let Ok(bytes) = buffer.read_once(root, "proc/self/mounts") {
        // A line that cannot be read ends the list; the mounts before it stand.
        let _ = mounts::parse(bytes, &mut list);
    }
    list
}
