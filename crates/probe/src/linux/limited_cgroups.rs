//! All cgroups with a limit of their own, and how often it was reached.
//!
//! The trees of cgroups are searched once a minute, some cgroups at a time; in between only the files of those with limits are read. None is
//! kept open: a machine may have more of them than a process may have descriptors.

use std::mem::MaybeUninit;

use facts::cgroup::LimitedCgroup;
use facts::cursor::Malformed;
use facts::linux::cgroup_cpu::{CgroupCpuField, CgroupCpuStat, CpuQuota};
use facts::linux::cgroup_memory::{self, CgroupMemoryEvent, CgroupMemoryEvents};
use facts::linux::mounts::Mount;
use facts::sample::{Absence, Sample};
use rustix::fs::{FileType, RawDir};

use super::cgroup::read_mounts;
use super::files::Buffer;
use super::part::{Changes, Part};
use crate::roots::MachineDirectory;

/// The rescans from the beginning of one search to the next.
const RESCANS_A_SEARCH: u32 = 6;
/// The most cgroups that one rescan looks at, each with some ten system calls: a search must not make a tick late.
const CGROUPS_A_RESCAN: usize = 200;
/// The most cgroups that one search looks at, and the most with limits that are read.
const MAX_CGROUPS: usize = 20_000;
const MAX_LIMITED: usize = 1_000;
/// Files of version 1 that limit I/O, a device a line.
const IO_LIMITS_OF_V1: [&str; 4] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

/// The cgroups with limits in all trees.
#[derive(Debug)]
pub(crate) struct LimitedCgroups {
    trees: Vec<Tree>,
    rescans: u32,
    /// The search that goes on.
    search: Option<Search>,
    limited: Vec<Limited>,
}

/// A search through all trees.
#[derive(Debug)]
struct Search {
    /// Cgroups that were not looked at, with the places of their trees; the last one is the next.
    pending: Vec<(usize, String)>,
    looked_at: usize,
    found: Vec<Limited>,
}

/// A mounted hierarchy.
#[derive(Debug)]
struct Tree {
    directory: MachineDirectory,
    version: u8,
}

/// A cgroup with a limit, and the files that say how often it was reached, as paths in the tree; `None` if it has no such limit.
#[derive(Debug)]
struct Limited {
    /// The place of its tree.
    tree: usize,
    /// With a slash before it.
    path: Vec<u8>,
    cpu_stat: Option<String>,
    memory_events: Option<String>,
    /// In version 1 the times that memory reached its limit have a file of their own.
    memory_failures: Option<String>,
    /// If its I/O is limited, the file that says whether there are processes in it.
    io_limited_members: Option<String>,
}

/// The resources that are limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Limits {
    cpu: bool,
    memory: bool,
    io: bool,
}

impl LimitedCgroups {
    pub(crate) fn open(root: &MachineDirectory, buffer: &mut Buffer) -> Self {
        let mut trees: Vec<Tree> = Vec::new();
        let mut targets = Vec::new();
        for mount in read_mounts(root, buffer) {
            let Some(version) = version(&mount) else { continue };
            let target = String::from_utf8_lossy(&mount.target).trim_matches('/').to_owned();
            let directory = root.directory_at(&target).ok().filter(|_| !targets.contains(&target));
            trees.extend(directory.map(|directory| Tree { directory, version }));
            targets.push(target);
        }
        Self { trees, rescans: 0, search: None, limited: Vec::new() }
    }
}

/// The version of a hierarchy that can limit something.
fn version(mount: &Mount) -> Option<u8> {
    let limits = [&b"cpu"[..], b"memory", b"blkio"];
    match mount.filesystem.as_slice() {
        b"cgroup2" => Some(2),
        b"cgroup" if limits.iter().any(|controller| mount.has_option(controller)) => Some(1),
        _ => None,
    }
}

impl Part for LimitedCgroups {
    fn rescan(&mut self, buffer: &mut Buffer) {
        let is_due = self.rescans.is_multiple_of(RESCANS_A_SEARCH);
        // The first search goes to its end, so that the first reading is complete.
        let most = if self.rescans == 0 { MAX_CGROUPS } else { CGROUPS_A_RESCAN };
        self.rescans = self.rescans.wrapping_add(1);
        if self.search.is_none() && is_due {
            self.search = Some(Search::begin(self.trees.len()));
        }
        if let Some(search) = &mut self.search
            && search.go_on(&self.trees, most, buffer)
        {
            self.limited = std::mem::take(&mut search.found);
            self.search = None;
        }
    }

    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        let Self { trees, limited, .. } = self;
        sample.limited_cgroups.fill(|list| {
            list.resize_with(limited.len(), LimitedCgroup::default);
            for (one, found) in limited.iter().zip(list) {
                one.read(&trees[one.tree], buffer, found);
            }
            if trees.is_empty() { Err(Absence::Unsupported) } else { Ok(()) }
        });
    }
}

impl Search {
    /// From the roots of all trees.
    fn begin(trees: usize) -> Self {
        Self {
            pending: (0..trees).rev().map(|tree| (tree, String::new())).collect(),
            looked_at: 0,
            found: Vec::new(),
        }
    }

    /// Looks at some more cgroups, each before those in it. Returns whether the search has ended.
    fn go_on(&mut self, trees: &[Tree], most: usize, buffer: &mut Buffer) -> bool {
        for _ in 0..most {
            if self.looked_at == MAX_CGROUPS || self.found.len() == MAX_LIMITED {
                return true;
            }
            let Some((place, path)) = self.pending.pop() else { return true };
            self.looked_at += 1;
            let tree = &trees[place];
            tree.list(&path, buffer, |child| self.pending.push((place, child)));
            let limits = tree.limits(&path, buffer);
            if limits != Limits::default() {
                self.found.push(tree.limited(place, &path, limits));
            }
        }
        self.pending.is_empty()
    }
}

impl Tree {
    /// Calls `each` with the paths of the cgroups directly in one.
    fn list(&self, path: &str, buffer: &mut Buffer, mut each: impl FnMut(String)) {
        let relative = if path.is_empty() { "." } else { path };
        buffer.calls += 4; // openat, getdents64 twice, close
        let Ok(directory) = self.directory.directory_at(relative) else { return };
        let mut memory = [MaybeUninit::uninit(); 4096];
        let mut listing = RawDir::new(&directory, &mut memory);
        while let Some(Ok(listed)) = listing.next() {
            let name = listed.file_name().to_str().ok().filter(|name| !matches!(*name, "." | ".."));
            if let Some(name) = name.filter(|_| listed.file_type() == FileType::Directory) {
                each(file_of(path, name));
            }
        }
    }

    fn limited(&self, tree: usize, path: &str, limits: Limits) -> Limited {
        let file = |name: &str| file_of(path, name);
        let events = if self.version == 1 { "memory.oom_control" } else { "memory.events" };
        Limited {
            tree,
            path: format!("/{path}").into_bytes(),
            cpu_stat: limits.cpu.then(|| file("cpu.stat")),
            memory_events: limits.memory.then(|| file(events)),
            memory_failures: (limits.memory && self.version == 1).then(|| file("memory.failcnt")),
            io_limited_members: limits
                .io
                .then(|| file(if self.version == 1 { "cgroup.procs" } else { "cgroup.events" })),
        }
    }

    /// The content of a file.
    fn parse<T>(
        &self,
        file: &str,
        buffer: &mut Buffer,
        parse: impl FnOnce(&[u8]) -> Result<T, Malformed>,
    ) -> Option<T> {
        parse(buffer.read_once(&self.directory, file).ok()?).ok()
    }

    fn limits(&self, path: &str, buffer: &mut Buffer) -> Limits {
        let mut holds = |name: &str, is_limit: fn(&[u8]) -> Result<bool, Malformed>| {
            self.parse(&file_of(path, name), buffer, is_limit) == Some(true)
        };
        let is_set = |bytes: &[u8]| Ok(!bytes.trim_ascii().is_empty());
        let is_limited = |bytes: &[u8]| cgroup_memory::limit(bytes).map(|limit| limit.is_some());
        if self.version == 1 {
            return Limits {
                cpu: holds("cpu.cfs_quota_us", |bytes| {
                    CpuQuota::parse_v1(bytes).map(|quota| quota.is_some())
                }),
                memory: holds("memory.limit_in_bytes", is_limited),
                io: IO_LIMITS_OF_V1.iter().any(|name| holds(name, is_set)),
            };
        }
        Limits {
            cpu: holds("cpu.max", |bytes| CpuQuota::parse_v2(bytes).map(|quota| quota.is_some())),
            memory: holds("memory.max", is_limited) || holds("memory.high", is_limited),
            io: holds("io.max", is_set),
        }
    }
}

/// A file of a cgroup, or a cgroup in it, as a path in the tree.
fn file_of(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

impl Limited {
    /// Reads how often its limits were reached. Nothing is known of one that is gone.
    fn read(&self, tree: &Tree, buffer: &mut Buffer, found: &mut LimitedCgroup) {
        let path = std::mem::take(&mut found.path);
        *found = LimitedCgroup { path, ..LimitedCgroup::default() };
        found.path.clone_from(&self.path);
        let mut stat = CgroupCpuStat::default();
        let mut parse = |bytes: &[u8]| stat.parse(bytes);
        if self.cpu_stat.as_ref().and_then(|file| tree.parse(file, buffer, &mut parse)).is_some() {
            found.throttled = stat.throttled();
            found.throttled_periods = stat.get(CgroupCpuField::Throttled);
        }
        let mut events = CgroupMemoryEvents::default();
        let mut parse = |bytes: &[u8]| events.parse(bytes);
        if self.memory_events.as_ref().and_then(|file| tree.parse(file, buffer, &mut parse)).is_some() {
            found.oom_kills = events.get(CgroupMemoryEvent::OomKill);
            found.memory_limit_reached = events.get(CgroupMemoryEvent::Max);
            found.memory_high_passed = events.get(CgroupMemoryEvent::High);
        }
        if let Some(file) = &self.memory_failures {
            let count = |bytes: &[u8]| cgroup_memory::usage(bytes).map(|count| count.0);
            found.memory_limit_reached = tree.parse(file, buffer, count);
        }
        if let Some(file) = &self.io_limited_members {
            // Version 1 lists the processes in it, version 2 says whether there are any in it or below.
            let has_members = |bytes: &[u8]| {
                Ok(match tree.version {
                    1 => !bytes.is_empty(),
                    _ => bytes.starts_with(b"populated 1"),
                })
            };
            found.holds_io_of_members = tree.parse(file, buffer, has_members) == Some(true);
        }
    }
}
