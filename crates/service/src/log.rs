//! Messages on standard error: what went wrong, once.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

/// How severe a message is: syslog(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something is not recorded.
    Warning = 4,
    /// A normal event.
    Info = 6,
}

/// The log of the agent.
#[derive(Debug)]
pub struct Log {
    is_journal: bool,
    /// The faults that last, by what they concern.
    faults: BTreeSet<&'static str>,
}

impl Log {
    /// With the levels of sd-daemon(3) if standard error is the journal, which JOURNAL_STREAM names (systemd.exec(5)).
    pub fn open() -> Self {
        let is_journal = || {
            let stream = std::env::var("JOURNAL_STREAM").ok()?;
            let (device, inode) = stream.split_once(':')?;
            let error = std::fs::metadata("/dev/stderr").ok()?;
            Some(device.parse() == Ok(error.dev()) && inode.parse() == Ok(error.ino()))
        };
        Self { is_journal: is_journal().unwrap_or(false), faults: BTreeSet::new() }
    }

    /// Writes a message.
    pub fn write(&self, level: Level, message: &str) {
        let line = match self.is_journal {
            true => format!("<{}>{message}\n", level as u8),
            false => format!("whit: {message}\n"),
        };
        // Recording goes on if the log cannot be written.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    /// Forgets a fault without a message: what it concerned is not there any more.
    pub fn forget(&mut self, what: &'static str) {
        self.faults.remove(what);
    }

    /// Writes a fault when it begins, and that it is over when it ends: `message` is that of now, if there is one.
    pub fn fault(&mut self, what: &'static str, message: Option<String>) {
        match message {
            Some(message) => {
                if self.faults.insert(what) {
                    self.write(Level::Warning, &message);
                }
            }
            None => {
                if self.faults.remove(what) {
                    self.write(Level::Info, &format!("{what}: works again"));
                }
            }
        }
    }
}
