//! Names that wait to be looked up, one behind the other in one piece of memory.

use std::ffi::CStr;

use probe::directory::EntryKind;

/// Names of one batch.
const FULL: usize = 1024;

/// Names with their kinds, each a byte for the kind, then the name and its end.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    count: usize,
}

const KINDS: [EntryKind; 8] = [
    EntryKind::File,
    EntryKind::Directory,
    EntryKind::Symlink,
    EntryKind::Fifo,
    EntryKind::Socket,
    EntryKind::BlockDevice,
    EntryKind::CharacterDevice,
    EntryKind::Unknown,
];

impl Batch {
    pub(super) fn push(&mut self, name: &CStr, kind: EntryKind) {
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
        self.count += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= FULL
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&CStr, EntryKind)> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let (kind, behind) = rest.split_first()?;
            let name = CStr::from_bytes_until_nul(behind).ok()?;
            rest = &behind[name.count_bytes() + 1..];
            Some((name, KINDS[usize::from(*kind)]))
        })
    }

    /// The second half; none of one name or none.
    pub(super) fn split_half(&mut self) -> Option<Self> {
        if self.count < 2 {
            return None;
        }
        let first = self.count / 2;
        let length = self.iter().take(first).map(|(name, _)| name.count_bytes() + 2).sum();
        let rest = Self { bytes: self.bytes.split_off(length), count: self.count - first };
        self.count = first;
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_gives_what_was_put_in_and_can_be_halved() {
        let mut batch = Batch::default();
        let names = [c"a", c"name with \xff and \n", c"", c"d", c"e"];
        for (name, kind) in names.into_iter().zip(KINDS) {
            batch.push(name, kind);
        }
        let all: Vec<_> = batch.iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
        assert_eq!(all[1], (c"name with \xff and \n".to_owned(), EntryKind::Directory));
        let rest = batch.split_half().unwrap();
        let parts: Vec<_> =
            batch.iter().chain(rest.iter()).map(|(name, kind)| (name.to_owned(), kind)).collect();
        assert_eq!((parts, batch.count, rest.count), (all, 2, 3));
        assert!(KINDS.into_iter().zip(0..).all(|(kind, at)| kind as u8 == at));
        let mut one = Batch::default();
        one.push(c"x", EntryKind::File);
        assert!(one.split_half().is_none() && Batch::default().split_half().is_none());
    }
}
