//! A Maildir, listed when a directory of it has changed.

use std::path::Path;

use facts::mailbox::MailCount;
use facts::mailbox::maildir::Directory;
use rustix::fd::OwnedFd;
use rustix::fs::{Dir, Mode, OFlags, fstat, open};
use rustix::io::Errno;

use super::identity::Identity;

#[derive(Debug, Default)]
pub(super) struct Maildir {
    new: Listed,
    cur: Listed,
}

/// A count, and the state of the directory in which it was made.
#[derive(Debug, Default)]
struct Listed {
    count: MailCount,
    identity: Option<Identity>,
}

impl Maildir {
    pub(super) fn read(&mut self, path: &Path) -> Result<MailCount, Errno> {
        let mut sum = MailCount::default();
        let parts = [("new", Directory::New, &mut self.new), ("cur", Directory::Cur, &mut self.cur)];
        for (name, directory, listed) in parts {
            sum += listed.read(&path.join(name), directory)?;
        }
        Ok(sum)
    }
}

impl Listed {
    fn read(&mut self, path: &Path, directory: Directory) -> Result<MailCount, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened: OwnedFd = open(path, flags, Mode::empty())?;
        let identity = Identity::new(&fstat(&opened)?);
        if self.identity == Some(identity) {
            return Ok(self.count);
        }
        let mut count = MailCount::default();
        for entry in Dir::new(opened)? {
            count += directory.count(entry?.file_name().to_bytes());
        }
        // Changed in the same step of the clock it would look the same.
        self.identity = (!identity.may_change_unseen()).then_some(identity);
        self.count = count;
        // The two entries of every directory begin with a dot.
        Ok(count)
    }
}
