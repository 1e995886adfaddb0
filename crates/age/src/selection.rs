//! Which entries are meant.

use std::sync::Arc;

use facts::age::{AgeBy, Aged};
use facts::unit::{Bytes, Nanos};
use fast_glob::glob_match;
use formats::tmpfiles::Protection;
use probe::directory::{EntryKind, EntryStatus, StatusWanted};

/// All that an entry must be.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// Not younger than this.
    pub(crate) older: Option<Nanos>,
    /// Younger than this.
    pub(crate) newer: Option<Nanos>,
    /// Longer than this.
    pub(crate) larger: Option<Bytes>,
    /// Which of its times counts.
    pub(crate) by: AgeBy,
    /// One of these patterns; without any, every name.
    pub(crate) matches: Vec<String>,
    /// None of these, neither itself nor a directory above it.
    pub(crate) excludes: Vec<String>,
    /// One of these kinds.
    pub(crate) kinds: Vec<EntryKind>,
    /// This user's.
    pub(crate) owner: Option<u32>,
    /// Which of a directory's times count, if others than a file's.
    pub(crate) directory_by: Option<AgeBy>,
    /// Paths that a configuration leaves alone, with what is below them.
    pub(crate) protection: Option<Arc<Protection>>,
    /// Nothing directly in the top directory.
    pub(crate) keeps_first_level: bool,
    /// Directories one in the other that are entered; none: all.
    pub(crate) most_levels: Option<u32>,
}

impl Selection {
    /// By name: whether neither this nor what is below it is meant.
    pub(super) fn excludes(&self, name: &[u8]) -> bool {
        self.excludes.iter().any(|pattern| glob_match(pattern, name))
    }

    /// By name and kind: whether it may be meant.
    pub(super) fn may_take(&self, name: &[u8], kind: EntryKind) -> bool {
        (self.kinds.contains(&kind) || kind == EntryKind::Unknown)
            && (self.matches.is_empty() || self.matches.iter().any(|pattern| glob_match(pattern, name)))
    }

    /// Returns the status that is needed of an entry to know whether it is selected.
    pub(super) fn wanted(&self) -> Option<StatusWanted> {
        let asks_time = self.older.is_some() || self.newer.is_some();
        if !asks_time && self.owner.is_none() && self.larger.is_none() {
            return None;
        }
        let times = if asks_time { self.by } else { StatusWanted::KIND.times };
        Some(StatusWanted { times, owner: self.owner.is_some(), identity: false })
    }

    /// By what was asked: whether it is meant.
    pub(super) fn takes(&self, status: &EntryStatus, now_ns: i64) -> bool {
        self.kinds.contains(&status.kind)
            && (self.owner.is_none() || self.owner == status.uid)
            && self.larger.is_none_or(|larger| status.bytes > larger)
            && self.newer.is_none_or(|newer| self.is_new(&aged(self.by, status), newer, now_ns))
            && (self.older.is_none() || self.is_old(&aged(self.by, status), now_ns))
    }

    /// Returns true if the file is older than the given age; false if no age was given.
    pub(super) fn is_old(&self, file: &Aged, now_ns: i64) -> bool {
        self.older.is_some_and(|older| file.is_old(older, now_ns))
    }

    /// Returns true if the file is younger than the given age; false if its time is not known.
    pub(super) fn is_new(&self, file: &Aged, newer: Nanos, now_ns: i64) -> bool {
        file.time_ns.is_some() && !file.is_old(newer, now_ns)
    }

    /// Returns true if a configuration protects a path. The path is only made if there is a configuration.
    pub(super) fn protects(&self, path: impl FnOnce() -> Vec<u8>) -> bool {
        self.protection.as_ref().is_some_and(|protection| protection.has(&path()))
    }

    /// Which of a directory's times count.
    pub(super) fn directory_by(&self) -> AgeBy {
        self.directory_by.unwrap_or(self.by)
    }

    /// The filesystem's own, which belong to root and lie directly where it is mounted: a configuration that cleans a mount keeps
    /// them, as systemd-tmpfiles does.
    pub(super) fn is_filesystems_own(&self, name: &[u8], kind: EntryKind) -> bool {
        let names: &[&[u8]] = match kind {
            EntryKind::Directory => &[b"lost+found"],
            EntryKind::File => &[b".journal", b"aquota.user", b"aquota.group"],
            _ => &[],
        };
        self.protection.is_some() && names.contains(&name)
    }
}

/// The age and sizes of an entry.
pub(super) fn aged(by: AgeBy, status: &EntryStatus) -> Aged {
    Aged { time_ns: by.pick(&status.times), bytes: status.bytes, allocated: status.allocated }
}

#[cfg(test)]
mod tests {
    use facts::age::FileTimes;

    use super::*;

    fn selection() -> Selection {
        Selection {
            older: Some(Nanos(1_000)),
            newer: None,
            larger: None,
            by: AgeBy::MODIFIED,
            matches: vec!["*.tmp".into(), "core.[0-9]*".into()],
            excludes: vec!["keep*".into()],
            kinds: vec![EntryKind::File],
            owner: None,
            directory_by: None,
            protection: None,
            keeps_first_level: false,
            most_levels: None,
        }
    }

    fn status(modified_ns: Option<i64>) -> EntryStatus {
        EntryStatus {
            kind: EntryKind::File,
            permissions: 0o644,
            is_sticky: false,
            uid: None,
            device: (0, 0),
            inode: 0,
            bytes: Bytes(0),
            allocated: Bytes(0),
            times: FileTimes { modified_ns, ..FileTimes::default() },
        }
    }

    #[test]
    fn names_and_kinds_are_looked_at_first() {
        let selection = selection();
        assert!(selection.may_take(b"a.tmp", EntryKind::File));
        assert!(selection.may_take(b"core.17", EntryKind::Unknown));
        assert!(selection.may_take(b"\xff\xfe.tmp", EntryKind::File));
        assert!(!selection.may_take(b"a.tmp", EntryKind::Directory));
        assert!(!selection.may_take(b"a.tmpx", EntryKind::File));
        assert!(selection.excludes(b"keep-this") && !selection.excludes(b"a.tmp"));
    }

    #[test]
    fn whose_age_is_not_known_is_not_old() {
        let selection = selection();
        assert!(selection.takes(&status(Some(5_000)), 6_000));
        assert!(!selection.takes(&status(Some(5_001)), 6_000));
        assert!(!selection.takes(&status(Some(9_000)), 6_000));
        assert!(!selection.takes(&status(None), 6_000));
    }
}
