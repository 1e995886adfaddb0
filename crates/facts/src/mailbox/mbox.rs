//! mbox: messages one behind the other, each begun by a line "From sender date". RFC 4155; qmail's mbox(5) describes
//! the dialects (mboxo, mboxrd, mboxcl, mboxcl2).
//!
//! A reader marks a message as read in its header: `Status: RO`, `X-Status:`, `X-Mozilla-Status:`. What looks like one in
//! a body is none. Where a body has a `Content-Length:` that leads to the next message or the end, it is not looked at
//! at all.

mod header;
mod read_at;
mod separator;
mod window;

use super::MailCount;
use header::Header;
pub use read_at::ReadAt;
use separator::is_separator;
use window::Window;

/// The count of a mailbox, and from where it can be taken up when something is appended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mbox {
    /// Messages before the last.
    settled: MailCount,
    /// Where the last message begins. It is read again, since it may have been half-written.
    resume_at: u64,
    /// All messages, the last among them as far as it is there.
    count: MailCount,
    unread_headers: Vec<(u64, u64)>,
}

/// So many unread headers are remembered.
const MAX_HEADERS: usize = 32;

impl Mbox {
    /// All messages.
    pub fn count(&self) -> MailCount {
        self.count
    }

    /// Offset and length of the last unread messages' headers, for a caller that checks whether a reader has marked one
    /// as read.
    pub fn unread_headers(&self) -> &[(u64, u64)] {
        &self.unread_headers
    }

    /// Counts from the begin of the last message on; all of them where this is new. `memory` is kept between calls.
    ///
    /// # Errors
    /// If reading fails; the count is then what it was.
    pub fn scan<R: ReadAt>(&mut self, file: &mut R, memory: &mut Vec<u8>) -> Result<(), R::Error> {
        let mut now = self.clone();
        now.unread_headers.retain(|(offset, _)| *offset < now.resume_at);
        now.count = now.settled;
        let mut window = Window::new(file, memory, now.resume_at)?;
        // What a file begins with needs no proof; before that there may be anything, and as a rule is nothing.
        let mut has_message = window.rest().starts_with(b"From ") || next_separator(&mut window)?;
        while has_message {
            (now.settled, now.resume_at) = (now.count, window.offset());
            window.skip_line()?;
            let header_at = window.offset();
            let header = Header::read(&mut window)?;
            let is_first = now.settled == MailCount::default();
            now.add(&header, (header_at, window.offset() - header_at), is_first);
            has_message = header.is_cut_by_separator || skip_body(&mut window, header.content_length)?;
        }
        *self = now;
        Ok(())
    }

    fn add(&mut self, header: &Header, place: (u64, u64), is_first: bool) {
        let message = header.count(is_first);
        self.count += message;
        if message.unread > 0 {
            if self.unread_headers.len() == MAX_HEADERS {
                self.unread_headers.remove(0);
            }
            self.unread_headers.push(place);
        }
    }
}

/// From a body's begin to the next message. Whether there is one.
fn skip_body<R: ReadAt>(window: &mut Window<'_, R>, length: Option<u64>) -> Result<bool, R::Error> {
    let body_at = window.offset();
    // No file is longer than a signed offset.
    let last_at = length.filter(|length| *length > 0).and_then(|length| body_at.checked_add(length - 1));
    if let Some(last_at) = last_at.filter(|last_at| i64::try_from(*last_at).is_ok()) {
        // The body's last byte must be there, or the message is half-written.
        window.go_to(last_at)?;
        if window.take_byte()?.is_some() {
            while window.take_empty_line()? {}
            if window.is_at_end()? {
                return Ok(false);
            }
            if is_separator(window)? {
                return Ok(true);
            }
        }
        // It lies: some program changed the body and not the figure.
        window.go_to(body_at)?;
    }
    if is_separator(window)? { Ok(true) } else { next_separator(window) }
}

/// Walks to the next line that begins a message.
fn next_separator<R: ReadAt>(window: &mut Window<'_, R>) -> Result<bool, R::Error> {
    while window.find_from_line()? {
        if is_separator(window)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
