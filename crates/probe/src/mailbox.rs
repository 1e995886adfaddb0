//! Mailboxes: mbox files and Maildirs, read again only where they have changed.
//!
//! An mbox is read by pread(2) into one buffer, not mapped: a file that is cut while it is looked at ends early, where a
//! mapping would end the process (SIGBUS). It is remembered by inode, size and time of change; what was appended is read
//! alone. A Maildir is listed, without asking for any of its files.

mod identity;
mod maildir;
mod mbox;

use std::path::{Path, PathBuf};

use facts::mailbox::MailCount;
use facts::sample::Absence;
use rustix::fs::{AtFlags, CWD, FileType, statat};
use rustix::io::Errno;

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
