//! The limits of the cgroup that whit itself runs in: what a container may use.

use facts::linux::cgroup::CgroupMembership;
use facts::linux::cgroup_cpu::CpuQuota;
use facts::linux::cgroup_memory::{self, CgroupMemoryField as Field, CgroupMemoryStat};
use facts::linux::mounts::{self, Mount};
use facts::sample::{Absence, CgroupLimits, Sample};
use facts::unit::Bytes;

use super::files::{Buffer, Extent, KeptFile};
use super::part::{Changes, Part};
use crate::roots::MachineDirectory;

/// The memory files of the own cgroup and of those above it.
#[derive(Debug)]
pub(crate) struct CgroupFiles {
    version: u8,
    /// The own first.
    levels: Vec<MemoryFiles>,
    /// Some of its directories are there. A mount may cover all of them.
    is_visible: bool,
    /// Kept for its memory.
    read: Vec<CgroupLimits>,
}

#[derive(Debug)]
struct MemoryFiles {
    limit: KeptFile,
    /// memory.high; absent in version 1.
    high: KeptFile,
    usage: KeptFile,
    stat: KeptFile,
}

/// A hierarchy in which a resource is limited, as found in the mounts.
struct Hierarchy {
    version: u8,
    /// The mount and the own path below it, without slashes at either end.
    mount: String,
    path: String,
}

impl Hierarchy {
    fn of(controller: &[u8], root: &MachineDirectory, buffer: &mut Buffer) -> Option<Self> {
        let mounts = read_mounts(root, buffer);
        let mut own = CgroupMembership::default();
        own.parse(buffer.read_once(root, "proc/self/cgroup").ok()?).ok()?;
        hierarchy(&mounts, &own, controller)
    }

    /// The directories of the own cgroup and of those above it, the own first.
    fn directories(&self) -> impl Iterator<Item = String> {
        let mut path = Some(self.path.as_str());
        std::iter::from_fn(move || {
            let now = path?;
            path = (!now.is_empty()).then(|| now.rsplit_once('/').map_or("", |(parent, _)| parent));
            Some(format!("{}/{now}", self.mount))
        })
    }

    /// Returns whether some of the directories are there.
    fn is_visible(&self, root: &MachineDirectory) -> bool {
        let has_tasks = |directory: String| root.look_at(&format!("{directory}/cgroup.procs")).is_ok();
        // A capture has no other files than those that are read.
        root.is_captured() || self.directories().any(has_tasks)
    }

    fn limit_and_usage(&self) -> [&'static str; 2] {
        match self.version {
            1 => ["memory.limit_in_bytes", "memory.usage_in_bytes"],
            _ => ["memory.max", "memory.current"],
        }
    }

    /// The quota of CPU time; in version 1 the period has a file of its own.
    fn quota_and_period(&self) -> &'static [&'static str] {
        match self.version {
            1 => &["cpu.cfs_quota_us", "cpu.cfs_period_us"],
            _ => &["cpu.max"],
        }
    }
}

/// The files that are read, for a capture.
pub(super) fn paths(root: &MachineDirectory, buffer: &mut Buffer) -> Vec<String> {
    let mut paths = Vec::new();
    if let Some(hierarchy) = Hierarchy::of(b"memory", root, buffer) {
        let [limit, usage] = hierarchy.limit_and_usage();
        let names = [limit, usage, "memory.high", "memory.stat"];
        let in_directory = |directory: String| names.map(|name| format!("{directory}/{name}"));
        paths.extend(hierarchy.directories().flat_map(in_directory));
    }
    if let Some(hierarchy) = Hierarchy::of(b"cpu", root, buffer) {
        for directory in hierarchy.directories() {
            paths.extend(hierarchy.quota_and_period().iter().map(|name| format!("{directory}/{name}")));
        }
    }
    paths
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
    pub(crate) fn open(root: &MachineDirectory, buffer: &mut Buffer) -> Self {
        let Some(hierarchy) = Hierarchy::of(b"memory", root, buffer) else {
            return Self { version: 0, levels: Vec::new(), is_visible: false, read: Vec::new() };
        };
        let levels = levels(root, buffer, &hierarchy);
        let is_visible = hierarchy.is_visible(root);
        Self { version: hierarchy.version, levels, is_visible, read: Vec::new() }
    }

    fn fill(&mut self, buffer: &mut Buffer, limits: &mut CgroupLimits) -> Result<(), Absence> {
        *limits = CgroupLimits { version: self.version, ..CgroupLimits::default() };
        if self.version == 0 {
            return Err(Absence::Unsupported);
        }
        if !self.is_visible {
            return Err(Absence::Gone);
        }
        self.read.clear();
        for files in &self.levels {
            // A level that disappears or is hidden meanwhile is left out.
            self.read.extend(files.read(buffer, self.version));
        }
        if let Some(least) = CgroupLimits::least_left(&self.read) {
            *limits = *least;
        }
        Ok(())
    }
}

impl Part for CgroupFiles {
    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        sample.cgroup.fill(|limits| self.fill(buffer, limits));
    }
}

/// The quotas of CPU time of the own cgroup and of those above it.
#[derive(Debug)]
pub(crate) struct QuotaFiles {
    is_supported: bool,
    levels: Vec<LevelQuota>,
}

#[derive(Debug)]
enum LevelQuota {
    /// `cpu.max`.
    V2(KeptFile),
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    V1(KeptFile, KeptFile),
}

impl QuotaFiles {
    pub(crate) fn open(root: &MachineDirectory, buffer: &mut Buffer) -> Self {
        let Some(hierarchy) = Hierarchy::of(b"cpu", root, buffer) else {
            return Self { is_supported: false, levels: Vec::new() };
        };
        let level = |directory: String| {
            let file = |name: &str| KeptFile::open(root, &format!("{directory}/{name}"), Extent::Whole);
            match hierarchy.quota_and_period() {
                [quota, period] => LevelQuota::V1(file(quota), file(period)),
                names => LevelQuota::V2(file(names[0])),
            }
        };
        let levels = hierarchy.directories().map(level).filter(LevelQuota::is_open).collect();
        // A quota that cannot be seen is not known.
        Self { is_supported: hierarchy.is_visible(root), levels }
    }

    fn tightest(&self, buffer: &mut Buffer) -> Option<CpuQuota> {
        // A level that disappears or is hidden meanwhile is left out.
        let quotas = self.levels.iter().filter_map(|level| level.read(buffer).ok().flatten());
        quotas.min_by(|a, b| a.cpus().total_cmp(&b.cpus()))
    }
}

impl Part for QuotaFiles {
    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        sample.cpu_quota.fill(|quota| {
            *quota = self.tightest(buffer);
            if self.is_supported { Ok(()) } else { Err(Absence::Unsupported) }
        });
    }
}

impl LevelQuota {
    /// The root of a hierarchy has no quota, and a path of the host may not be seen.
    fn is_open(&self) -> bool {
        match self {
            Self::V2(file) | Self::V1(file, _) => file.is_open(),
        }
    }

    fn read(&self, buffer: &mut Buffer) -> Result<Option<CpuQuota>, Absence> {
        match self {
            Self::V2(file) => file.parse(buffer, CpuQuota::parse_v2),
            Self::V1(quota, period) => {
                let Some(quota) = quota.parse(buffer, CpuQuota::parse_v1)? else { return Ok(None) };
                let period = period.parse(buffer, CpuQuota::parse_v1_period)?;
                Ok(Some(CpuQuota { quota, period }))
            }
        }
    }
}

impl MemoryFiles {
    fn read(&self, buffer: &mut Buffer, version: u8) -> Result<CgroupLimits, Absence> {
        let least = |a: Option<Bytes>, b: Option<Bytes>| [a, b].into_iter().flatten().min();
        let high = self.high.parse(buffer, cgroup_memory::limit).unwrap_or(None);
        let mut limit = least(self.limit.parse(buffer, cgroup_memory::limit)?, high);
        let mut stat = CgroupMemoryStat::default();
        if version == 1 || limit.is_some() {
            self.stat.parse(buffer, |bytes| stat.parse(bytes))?;
        }
        // It says no limit by the same huge number, which no machine's memory reaches.
        let hierarchical = stat.get(Field::HierarchicalMemoryLimit).map(Bytes);
        limit = least(limit, hierarchical.filter(|bytes| bytes.0 < 1 << 62));
        Ok(CgroupLimits {
            memory_limit: limit,
            memory_usage: limit.map(|_| self.usage.parse(buffer, cgroup_memory::usage)).transpose()?,
            file_cache: stat.either(Field::File, Field::TotalCache),
            shmem: stat.either(Field::Shmem, Field::TotalShmem),
            inactive_file: stat.either(Field::InactiveFile, Field::TotalInactiveFile),
            active_file: stat.either(Field::ActiveFile, Field::TotalActiveFile),
            version,
        })
    }
}

/// The levels that can be read, the own first. A container sees the path of the host, of which its mount may lack the upper part.
fn levels(root: &MachineDirectory, buffer: &mut Buffer, hierarchy: &Hierarchy) -> Vec<MemoryFiles> {
    let [limit_name, usage_name] = hierarchy.limit_and_usage();
    let mut levels = Vec::new();
    for directory in hierarchy.directories() {
        let file = |name: &str| KeptFile::open(root, &format!("{directory}/{name}"), Extent::Whole);
        let limit = file(limit_name);
        // A path that is not seen, or the root of v2, has no such file: one level up, then.
        if limit.parse(buffer, cgroup_memory::limit).is_ok() {
            let (high, usage, stat) = (file("memory.high"), file(usage_name), file("memory.stat"));
            levels.push(MemoryFiles { limit, high, usage, stat });
        }
    }
    levels
}

/// The mounts of a machine, read once.
pub(super) fn read_mounts(root: &MachineDirectory, buffer: &mut Buffer) -> Vec<Mount> {
    let mut list = Vec::new();
    if let Ok(bytes) = buffer.read_once(root, "proc/self/mounts") {
        // A line that cannot be read ends the list; the mounts before it stand.
        let _ = mounts::parse(bytes, &mut list);
    }
    list
}
