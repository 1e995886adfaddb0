//! Mailboxes: mbox files and Maildirs, read again only where they have changed.
//!
//! An mbox is read by pread(2) into one buffer, not mapped: a file that is cut while it is looked at ends early, where a
//! mapping would end the process (SIGBUS). It is remembered by inode, size and time of change; what was appended is read
//! alone. A Maildir is listed, without asking for any of its files.

mod maildir;
mod mbox;

use std::path::{Path, PathBuf};

use facts::mailbox::MailCount;
use facts::sample::Absence;
use facts::unit::Nanos;
use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};
use rustix::io::Errno;

use crate::clock_now;
use maildir::Maildir;
use mbox::MboxFile;

/// A mailbox that is looked at again and again.
#[derive(Debug)]
pub struct Mailbox {
    path: PathBuf,
    known: Known,
    /// For the search; kept between readings.
    memory: Vec<u8>,
}

#[derive(Debug)]
enum Known {
    Nothing,
    Mbox(MboxFile),
    Maildir(Maildir),
}

impl Mailbox {
    /// One at a path, mbox or Maildir.
    pub fn new(path: PathBuf) -> Self {
        Self { path, known: Known::Nothing, memory: Vec::new() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many messages it holds now.
    ///
    /// # Errors
    /// Why it cannot be read. A file that was there and was taken away, as programs do with an empty one, is empty.
    pub fn read(&mut self) -> Result<MailCount, Absence> {
        let stat = match statat(CWD, &self.path, AtFlags::empty()) {
            Ok(stat) => stat,
            Err(Errno::NOENT) if !matches!(self.known, Known::Nothing) => return Ok(MailCount::default()),
            Err(error) => return Err(absence(error)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                if !matches!(self.known, Known::Maildir(_)) {
                    self.known = Known::Maildir(Maildir::default());
                }
            }
            FileType::RegularFile => {
                if !matches!(self.known, Known::Mbox(_)) {
                    self.known = Known::Mbox(MboxFile::default());
                }
            }
            _ => return Err(Absence::Unsupported),
        }
        match &mut self.known {
            Known::Maildir(maildir) => maildir.read(&self.path).map_err(absence),
            Known::Mbox(mbox) => mbox.read(&self.path, &stat, &mut self.memory).map_err(absence),
            Known::Nothing => Err(Absence::Unsupported),
        }
    }
}

/// What tells one state of a file or directory from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified_s: i64,
    modified_ns: i64,
}

impl Identity {
    // The types of these fields differ from system to system.
    #[allow(clippy::unnecessary_cast)]
    fn new(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified_s: stat.st_mtime as i64,
            modified_ns: stat.st_mtime_nsec as i64,
        }
    }

    /// Whether another change could carry the same time: clocks of filesystems go in steps, those without a fraction in
    /// steps of up to two seconds, the others of a few milliseconds.
    fn may_change_unseen(&self) -> bool {
        let step = if self.modified_ns == 0 { Nanos(2_000_000_000) } else { Nanos(20_000_000) };
        let modified = i128::from(self.modified_s) * 1_000_000_000 + i128::from(self.modified_ns);
        i128::from(clock_now().realtime.0) - modified < i128::from(step.0)
    }
}

fn absence(error: Errno) -> Absence {
    match error {
        Errno::ACCESS | Errno::PERM => Absence::Denied,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => Absence::Exhausted,
        Errno::NOENT | Errno::STALE => Absence::Gone,
        _ => Absence::Unsupported,
    }
}

#[cfg(test)]
mod tests;
