//! An mbox file, of which only what was appended is read where nothing before has changed.
//!
//! One case is missed: a message far from the end, whose header is not remembered, is marked in place at the moment at which another one is
//! appended.

use std::path::Path;

use facts::mailbox::MailCount;
use facts::mailbox::mbox::{Mbox, ReadAt};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, Mode, OFlags, Stat, fadvise, fstat, open};
use rustix::io::{Errno, pread};

use super::identity::Identity;

#[derive(Debug, Default)]
pub(super) struct MboxFile {
    mbox: Mbox,
    /// The state in which it was counted; `None` if it may have changed since without a sign.
    identity: Option<Identity>,
    seal: Option<Seal>,
}

/// The parts of a file that must be unchanged for the earlier count to be right still, if the file has grown, or may have changed
/// without a sign. A file that has changed and not grown was changed in place, and is read anew.
#[derive(Debug, PartialEq, Eq)]
struct Seal {
    identity: Identity,
    /// Sums of the last bytes, and of headers of unread messages: where anything grew, shrank or moved, the last bytes are
    /// others; where a reader marked a message in place, its header is.
    sums: Vec<(u64, u64, u64)>,
}

/// So many of the last bytes are compared.
const TAIL_BYTES: u64 = 4096;
/// A header that is longer is compared in its first part.
const HEADER_BYTES: u64 = 16 * 1024;

impl MboxFile {
    pub(super) fn read(
        &mut self,
        path: &Path,
        stat: &Stat,
        memory: &mut Vec<u8>,
    ) -> Result<MailCount, Errno> {
        if self.identity == Some(Identity::new(stat)) {
            return Ok(self.mbox.count());
        }
        // A FIFO that took the file's place must not hold us up.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut file = OpenFile(open(path, flags, Mode::empty())?);
        let before = Identity::new(&fstat(&file.0)?);
        let unbroken = self.seal.take().filter(|seal| seal.holds(before, &mut file));
        if unbroken.is_none() {
            self.mbox = Mbox::default();
            // Twice the pages at a time; where the filesystem knows no advice it does without.
            let _ = fadvise(&file.0, 0, None, Advice::Sequential);
        }
        self.identity = None;
        self.mbox.scan(&mut file, memory)?;
        // Taken before the last look at the file's state: what is written meanwhile shows there.
        let known = unbroken.map_or_else(Vec::new, |seal| seal.sums);
        let seal = Seal::new(before, &self.mbox, &known, &mut file);
        let after = Identity::new(&fstat(&file.0)?);
        if before == after {
            self.seal = seal;
            self.identity = (!after.may_change_unseen()).then_some(after);
        }
        Ok(self.mbox.count())
    }
}

impl Seal {
    /// Makes a seal. Sums that are `known` from a seal that held a moment ago are not read again.
    fn new(identity: Identity, mbox: &Mbox, known: &[(u64, u64, u64)], file: &mut OpenFile) -> Option<Self> {
        let size = identity.size;
        let tail = (size.saturating_sub(TAIL_BYTES), size.min(TAIL_BYTES));
        let places = mbox.unread_headers().iter().copied().chain([tail]);
        let sums = places.map(|(offset, length)| {
            let length = length.min(HEADER_BYTES);
            let found = known.iter().find(|(at, bytes, _)| (*at, *bytes) == (offset, length));
            found.copied().or_else(|| Some((offset, length, file.sum(offset, length)?)))
        });
        Some(Self { identity, sums: sums.collect::<Option<_>>()? })
    }

    fn holds(&self, now: Identity, file: &mut OpenFile) -> bool {
        let is_same = |(offset, length, sum): &(u64, u64, u64)| file.sum(*offset, *length) == Some(*sum);
        let Identity { device, inode, size, .. } = self.identity;
        let has_grown = (device, inode) == (now.device, now.inode) && size < now.size;
        (has_grown || self.identity == now) && self.sums.iter().all(is_same)
    }
}

struct OpenFile(OwnedFd);

impl OpenFile {
    /// FNV-1a of a stretch; `None` if it is not there.
    fn sum(&mut self, offset: u64, length: u64) -> Option<u64> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let mut read = 0;
        while read < bytes.len() {
            match self.read_at(offset + read as u64, &mut bytes[read..]) {
                Ok(more @ 1..) => read += more,
                _ => return None,
            }
        }
        let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Some(bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

impl ReadAt for OpenFile {
    type Error = Errno;

    fn read_at(&mut self, offset: u64, memory: &mut [u8]) -> Result<usize, Errno> {
        loop {
            match pread(&self.0, &mut *memory, offset) {
                Err(Errno::INTR) => {}
                read => return read,
            }
        }
    }
}
