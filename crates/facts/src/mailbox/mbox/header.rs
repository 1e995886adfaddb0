//! The state of a message, as its header gives it.

use memchr::memchr;

use super::read_at::ReadAt;
use super::separator::is_separator;
use super::window::Window;
use crate::cursor::Cursor;
use crate::mailbox::MailCount;

/// A header, as far as it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// `Status: R`, or a program's own word for it.
    is_read: bool,
    /// `Status: O`: some reader has listed it.
    is_old: bool,
    /// `X-Status: D`: to be deleted.
    is_deleted: bool,
    /// Mozilla: deleted, and only not yet taken out.
    is_expunged: bool,
    /// `X-IMAP:`: if it is the first header, a message that an IMAP server keeps for itself and does not show.
    is_imap_data: bool,
    /// Bytes of the body, as some program counted them.
    pub(super) content_length: Option<u64>,
    /// The next message begins where the empty line should have stood.
    pub(super) is_cut_by_separator: bool,
}

impl Header {
    /// Walks over the header and the empty line behind it.
    pub(super) fn read<R: ReadAt>(window: &mut Window<'_, R>) -> Result<Self, R::Error> {
        let mut header = Self::default();
        loop {
            let Some(length) = memchr(b'\n', window.rest()) else {
                if window.fill()? {
                    continue;
                }
                // The last line of a file, without its end, or one that is longer than the window.
                header.take(window.rest());
                window.skip_line()?;
                if window.is_at_end()? {
                    return Ok(header);
                }
                continue;
            };
            let line = &window.rest()[..length];
            if matches!(line, [] | [b'\r']) {
                window.step(length + 1);
                return Ok(header);
            }
            if line.starts_with(b"From ") && is_separator(window)? {
                header.is_cut_by_separator = true;
                return Ok(header);
            }
            // Its bytes may have moved while it was looked at.
            header.take(&window.rest()[..length]);
            window.step(length + 1);
        }
    }

    fn take(&mut self, line: &[u8]) {
        // Hardly any line begins so.
        if !matches!(line.first(), Some(b's' | b'S' | b'x' | b'X' | b'c' | b'C')) {
            return;
        }
        let value = |name: &[u8]| {
            let (start, rest) = line.split_at_checked(name.len())?;
            start.eq_ignore_ascii_case(name).then(|| rest.trim_ascii())
        };
        if let Some(flags) = value(b"status:") {
            self.is_read |= flags.contains(&b'R');
            self.is_old |= flags.contains(&b'O');
        } else if let Some(flags) = value(b"x-status:") {
            self.is_read |= flags.contains(&b'R');
            self.is_deleted |= flags.contains(&b'D');
        } else if let Some(flags) = value(b"x-mozilla-status:") {
            let bits = std::str::from_utf8(flags).ok().and_then(|text| u32::from_str_radix(text, 16).ok());
            self.is_read |= bits.is_some_and(|bits| bits & 0x1 != 0);
            self.is_expunged |= bits.is_some_and(|bits| bits & 0x8 != 0);
        } else if let Some(length) = value(b"content-length:") {
            self.content_length = Cursor::new(length).number();
        } else if value(b"x-imap:").is_some() {
            self.is_imap_data = true;
        }
    }

    /// Counts the message.
    pub(super) fn count(&self, is_first: bool) -> MailCount {
        if self.is_expunged || (self.is_imap_data && is_first) {
            return MailCount::default();
        }
        let is_unread = !self.is_read && !self.is_deleted;
        MailCount { total: 1, unread: u64::from(is_unread), new: u64::from(is_unread && !self.is_old) }
    }
}
