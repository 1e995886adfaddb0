//! Mailboxes: the number of messages, and of unread messages.

pub mod maildir;
pub mod mbox;

use std::ops::AddAssign;

/// Messages of a mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailCount {
    /// All.
    pub total: u64,
    /// Messages that were not read.
    pub unread: u64,
    /// Unread messages that no mail reader has listed yet.
    pub new: u64,
}

impl AddAssign for MailCount {
    fn add_assign(&mut self, other: Self) {
        self.total = self.total.saturating_add(other.total);
        self.unread = self.unread.saturating_add(other.unread);
        self.new = self.new.saturating_add(other.new);
    }
}
