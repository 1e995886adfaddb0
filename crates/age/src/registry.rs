//! The private directories that this user's runs have made: the proof that a leftover is one of them.
//!
//! A name, an owner and a mode prove nothing: the owner of a directory can rename another user's private directory into it. So
//! each run records device, inode and birth time of its private directories in a file that only this user can write. The file
//! goes when the run ends. If it is still there and not locked, the run was killed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use facts::age::AgeBy;
use probe::directory::{EntryStatus, StatusWanted};
use probe::file_clock_now;

use super::mutex::locked;
use probe::random;

use command::paths;

/// Bytes of a record: three numbers, padded with blanks, and a newline.
const RECORD_BYTES: usize = 64;
/// More of an earlier run's records than this are not read.
const MAX_BYTES: u64 = 64 * 1024;
/// Names that are tried for a run's own file.
const ATTEMPTS: u32 = 4;

/// Identifies a directory among all that ever existed: inode numbers are reused, birth times are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: (u32, u32),
    inode: u64,
    born_ns: i64,
}

impl Identity {
    /// The status that is needed of a directory.
    pub(super) const WANTED: StatusWanted =
        StatusWanted { times: AgeBy { born: true, ..StatusWanted::KIND.times }, owner: true, identity: true };

    /// None if the filesystem keeps no birth times.
    pub(super) fn of(status: &EntryStatus) -> Option<Self> {
        let born_ns = status.times.born_ns?;
        Some(Self { device: status.device, inode: status.inode, born_ns })
    }

    fn record(&self) -> [u8; RECORD_BYTES] {
        let Self { device: (major, minor), inode, born_ns } = self;
        let text = format!("{major}:{minor} {inode} {born_ns}");
        let mut record = EMPTY;
        record[..text.len()].copy_from_slice(text.as_bytes());
        record
    }

    fn parse(record: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(record).ok()?.split_ascii_whitespace();
        let (major, minor) = words.next()?.split_once(':')?;
        let device = (major.parse().ok()?, minor.parse().ok()?);
        Some(Self { device, inode: words.next()?.parse().ok()?, born_ns: words.next()?.parse().ok()? })
    }
}

const EMPTY: [u8; RECORD_BYTES] = {
    let mut record = [b' '; RECORD_BYTES];
    record[RECORD_BYTES - 1] = b'\n';
    record
};

/// A record's place in this run's file.
#[derive(Debug)]
pub(super) struct Slot(usize);

/// The record of the private directories that this user's runs have made.
#[derive(Debug)]
pub(super) struct Registry {
    /// None if there is no place that other users cannot change: then nothing is recorded and nothing proven.
    directory: Option<PathBuf>,
    own: Mutex<Own>,
    /// Directories of runs that were killed, with the file that holds the record; read when they are first asked for.
    earlier: Mutex<Option<Vec<(Identity, PathBuf)>>>,
    /// When this run began, in nanoseconds since 1970 on the clock of file times.
    began_ns: i64,
}

#[derive(Debug)]
enum Own {
    /// Made with the first record.
    Unmade,
    Made {
        file: File,
        path: PathBuf,
        slots: Vec<bool>,
    },
    Failed,
}

impl Registry {
    pub(super) fn new() -> Self {
        let directory = paths::state_directory().map(|state| state.join("whit/age"));
        Self { directory, own: Mutex::new(Own::Unmade), earlier: Mutex::new(None), began_ns: now_ns() }
    }

    /// Records a directory that this run has made. None if that is not possible: nothing is lost by it, but if this run is killed,
    /// what it left is reported and not put back.
    pub(super) fn register(&self, status: &EntryStatus) -> Option<Slot> {
        // A directory that is older than this run was put in the place of the one that it made.
        let identity = Identity::of(status).filter(|_| self.is_recent(status))?;
        let mut own = locked(&self.own);
        if matches!(*own, Own::Unmade) {
            *own =
                self.make().map_or(Own::Failed, |(file, path)| Own::Made { file, path, slots: Vec::new() });
        }
        let Own::Made { file, slots, .. } = &mut *own else { return None };
        let free = slots.iter().position(|is_taken| !is_taken).unwrap_or(slots.len());
        file.write_all_at(&identity.record(), (free * RECORD_BYTES) as u64).ok()?;
        match slots.get_mut(free) {
            Some(slot) => *slot = true,
            None => slots.push(true),
        }
        Some(Slot(free))
    }

    /// Returns true if a directory was made after this run began.
    pub(super) fn is_recent(&self, status: &EntryStatus) -> bool {
        status.times.born_ns.is_some_and(|born_ns| born_ns >= self.began_ns)
    }

    /// Returns true if a directory may just be being made: since this run began, and not in the future, as the clock may have been set
    /// back.
    pub(super) fn may_be_in_the_making(&self, status: &EntryStatus) -> bool {
        self.is_recent(status) && status.times.born_ns.is_some_and(|born_ns| born_ns <= now_ns())
    }

    /// The directory is gone.
    pub(super) fn release(&self, slot: Slot) {
        if let Own::Made { file, slots, .. } = &mut *locked(&self.own) {
            // A record that stays names a directory that no other can be.
            let _ = file.write_all_at(&EMPTY, (slot.0 * RECORD_BYTES) as u64);
            slots[slot.0] = false;
        }
    }

    /// Returns true if a run of this user that was killed made this directory.
    pub(super) fn has(&self, identity: &Identity) -> bool {
        let mut earlier = locked(&self.earlier);
        let earlier = earlier.get_or_insert_with(|| self.read());
        earlier.iter().any(|(known, _)| known == identity)
    }

    /// A directory of an earlier run has been removed. The file goes with its last record.
    pub(super) fn forget(&self, identity: &Identity) {
        let mut earlier = locked(&self.earlier);
        let Some(earlier) = earlier.as_mut() else { return };
        let Some(at) = earlier.iter().position(|(known, _)| known == identity) else { return };
        let (_, path) = earlier.swap_remove(at);
        if !earlier.iter().any(|(_, other)| *other == path) {
            let _ = fs::remove_file(path);
        }
    }

    /// The end of the run. What could not be removed stays recorded.
    pub(super) fn close(&self) {
        if let Own::Made { path, slots, .. } = std::mem::replace(&mut *locked(&self.own), Own::Unmade)
            && !slots.contains(&true)
        {
            let _ = fs::remove_file(path);
        }
    }

    fn trusted(&self) -> io::Result<PathBuf> {
        // Symlinks on the way are the user's or the system's; what they lead to has to be trusted.
        let directory = self.directory.as_deref().ok_or(io::ErrorKind::NotFound)?.canonicalize()?;
        if paths::is_trusted(&directory) {
            Ok(directory)
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    fn make(&self) -> io::Result<(File, PathBuf)> {
        if let Some(directory) = &self.directory {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let directory = self.trusted()?;
        for _ in 0..ATTEMPTS {
            let path = directory.join(random::hex());
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            // Another run may just have taken it for a dead one's and removed it.
            if file.try_lock().is_ok() && file.metadata()?.nlink() == 1 {
                return Ok((file, path));
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    fn read(&self) -> Vec<(Identity, PathBuf)> {
        let mut earlier = Vec::new();
        let files = self.trusted().and_then(fs::read_dir).into_iter().flatten().flatten();
        for path in files.map(|entry| entry.path()) {
            // Locked until it is done with: a run that has just made it sees that it was removed.
            let Some((_lock, text)) = read_dead(&path) else { continue };
            let before = earlier.len();
            let records = text.split(|byte| *byte == b'\n').filter_map(Identity::parse);
            earlier.extend(records.map(|identity| (identity, path.clone())));
            if earlier.len() == before {
                // It was killed between two directories and left nothing.
                let _ = fs::remove_file(&path);
            }
        }
        earlier
    }
}

/// In nanoseconds since 1970 on the clock of file times.
fn now_ns() -> i64 {
    i64::try_from(file_clock_now().0).unwrap_or(i64::MAX)
}

/// The records of a run that has ended; none of one that lives, which holds a lock.
fn read_dead(path: &Path) -> Option<(File, Vec<u8>)> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    file.try_lock().ok()?;
    let mut text = Vec::new();
    (&file).take(MAX_BYTES).read_to_end(&mut text).ok()?;
    Some((file, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let identity = Identity { device: (u32::MAX, u32::MAX), inode: u64::MAX, born_ns: i64::MIN };
        assert_eq!(Identity::parse(&identity.record()), Some(identity));
        for other in [&b""[..], b"1:2 3", b"1 2 3", b"1:2 x 3", b"\xff", &EMPTY] {
            assert_eq!(Identity::parse(other), None);
        }
    }
}
