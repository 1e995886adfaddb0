//! Which entries are meant.

use facts::age::{AgeBy, Aged};
use facts::unit::Nanos;
use fast_glob::glob_match;
use probe::directory::{EntryKind, EntryStatus, StatusWanted};

use super::visitors::aged;

/// All that an entry must be.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// Not younger than this.
    pub(crate) older: Option<Nanos>,
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
    /// Patterns of whole paths that a configuration leaves alone, and whether their content is left alone, too.
    pub(crate) spared: Vec<(String, bool)>,
    /// Nothing directly in the top directory.
    pub(crate) keeps_first_level: bool,
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

    /// What has to be asked of an entry to know whether it is meant.
    pub(super) fn wanted(&self) -> Option<StatusWanted> {
        if self.older.is_none() && self.owner.is_none() {
            return None;
        }
        let times = if self.older.is_some() { self.by } else { StatusWanted::KIND.times };
        Some(StatusWanted { times, owner: self.owner.is_some(), identity: false })
    }

    /// By what was asked: whether it is meant.
    pub(super) fn takes(&self, status: &EntryStatus, now_ns: i64) -> bool {
        self.kinds.contains(&status.kind)
            && (self.owner.is_none() || self.owner == status.uid)
            && (self.older.is_none() || self.is_old(&aged(self.by, status), now_ns))
    }

    /// Whether it is older than what is older; nothing is where that was not asked for.
    pub(super) fn is_old(&self, file: &Aged, now_ns: i64) -> bool {
        self.older.is_some_and(|older| file.is_old(older, now_ns))
    }

    /// Whether a configuration leaves this path alone.
    pub(super) fn spares(&self, path: &[u8]) -> bool {
        self.spared.iter().any(|(pattern, _)| glob_match(pattern, path))
    }

    /// Whether a configuration leaves alone what is below this path.
    pub(super) fn spares_content(&self, path: &[u8]) -> bool {
        self.spared.iter().any(|(pattern, with_content)| *with_content && glob_match(pattern, path))
    }
}

#[cfg(test)]
mod tests {
    use facts::age::FileTimes;
    use facts::unit::Bytes;

    use super::*;

    fn selection() -> Selection {
        Selection {
            older: Some(Nanos(1_000)),
            by: AgeBy::MODIFIED,
            matches: vec!["*.tmp".into(), "core.[0-9]*".into()],
            excludes: vec!["keep*".into()],
            kinds: vec![EntryKind::File],
            owner: None,
            spared: vec![("/tmp/x*/y".into(), true), ("/tmp/z".into(), false)],
            keeps_first_level: false,
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

    #[test]
    fn configurations_spare_by_whole_path() {
        let selection = selection();
        assert!(selection.spares(b"/tmp/x1/y") && selection.spares_content(b"/tmp/x1/y"));
        assert!(selection.spares(b"/tmp/z") && !selection.spares_content(b"/tmp/z"));
        assert!(!selection.spares(b"/tmp/x1/y/z") && !selection.spares(b"/tmp/a/z"));
    }
}
