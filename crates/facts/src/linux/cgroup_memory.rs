//! A cgroup's memory: v2 `memory.{max,current,stat,events}`, v1 `memory.{limit_in_bytes,usage_in_bytes,stat,oom_control}`.
//! Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst.

use super::keyed::keyed;
use crate::cursor::{Cursor, Malformed};
use crate::unit::Bytes;

keyed! {
    /// `memory.stat` of either version; v1's `total_*` lines, which count the subtree as v2 does.
    CgroupMemoryStat,
    /// A line of `memory.stat`.
    CgroupMemoryField {
        Anon = "anon",
        File = "file",
        /// v2, since 4.18: all kernel memory since 5.18.
        Kernel = "kernel",
        Shmem = "shmem",
        InactiveFile = "inactive_file",
        ActiveFile = "active_file",
        SlabReclaimable = "slab_reclaimable",
        SlabUnreclaimable = "slab_unreclaimable",
        TotalCache = "total_cache",
        TotalRss = "total_rss",
        TotalShmem = "total_shmem",
        TotalInactiveFile = "total_inactive_file",
        TotalActiveFile = "total_active_file",
        /// v1: the tightest limit on the way up, also of levels that a container does not see.
        HierarchicalMemoryLimit = "hierarchical_memory_limit",
    }
}

impl CgroupMemoryStat {
    /// Fills from the bytes of memory.stat.
    ///
    /// # Errors
    /// If a known line holds no number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.fill(bytes, None)
    }

    /// The figure of v2, else that of v1.
    pub fn either(&self, v2: CgroupMemoryField, v1: CgroupMemoryField) -> Option<Bytes> {
        self.get(v1).or(self.get(v2)).map(Bytes)
    }
}

keyed! {
    /// `memory.events` of version 2, `memory.oom_control` of version 1.
    CgroupMemoryEvents,
    /// A line of these.
    CgroupMemoryEvent {
        /// v2: times that `memory.high` was passed, and tasks were slowed down.
        High = "high",
        /// v2: times that the limit was reached.
        Max = "max",
        /// Processes that were killed; in v1 since 4.13.
        OomKill = "oom_kill",
    }
}

impl CgroupMemoryEvents {
    /// Fills from the bytes of the file.
    ///
    /// # Errors
    /// If a known line holds no number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.fill(bytes, None)
    }
}

/// The content of a limit file; none for "max" and for v1's huge number that means no limit.
///
/// # Errors
/// If it is neither.
pub fn limit(bytes: &[u8]) -> Result<Option<Bytes>, Malformed> {
    let mut cursor = Cursor::new(bytes);
    if cursor.skip(b"max") {
        return Ok(None);
    }
    let limit = cursor.number().ok_or_else(|| cursor.expected("bytes or \"max\""))?;
    // v1 means none by the largest number of whole pages, whatever a page's size.
    Ok((limit < i64::MAX as u64 & !0xf_ffff).then_some(Bytes(limit)))
}

/// The content of a usage file: bytes.
///
/// # Errors
/// If it is not a number.
pub fn usage(bytes: &[u8]) -> Result<Bytes, Malformed> {
    let mut cursor = Cursor::new(bytes);
    cursor.number().map(Bytes).ok_or_else(|| cursor.expected("bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_say_no_limit() {
        assert_eq!(limit(b"max\n"), Ok(None));
        assert_eq!(limit(b"9223372036854771712\n"), Ok(None));
        assert_eq!(limit(b"67108864\n"), Ok(Some(Bytes(67_108_864))));
        assert!(limit(b"none\n").is_err());
    }

    #[test]
    fn events_of_both_versions() {
        let mut events = CgroupMemoryEvents::default();
        events.parse(b"low 0\nhigh 7\nmax 5\noom 2\noom_kill 1\noom_group_kill 0\n").unwrap();
        let counts = [CgroupMemoryEvent::Max, CgroupMemoryEvent::OomKill];
        assert_eq!(counts.map(|count| events.get(count)), [Some(5), Some(1)]);
        events.parse(b"oom_kill_disable 1\nunder_oom 0\noom_kill 3\n").unwrap();
        assert_eq!(counts.map(|count| events.get(count)), [None, Some(3)]);
    }
}
