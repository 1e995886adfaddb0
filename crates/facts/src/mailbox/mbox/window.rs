//! A stretch of the file in memory, which moves on.

use memchr::memchr;
use memchr::memmem::Finder;

use super::read_at::ReadAt;

/// Small enough to stay in a core's own cache while it is searched.
const WINDOW_BYTES: usize = 256 * 1024;
/// The bytes that are kept before the place, to see whether a line before it is empty.
const KEPT_BYTES: usize = 4;
const FROM_LINE: &[u8] = b"\nFrom ";

/// Walks over a file.
pub(super) struct Window<'a, R: ReadAt> {
    file: &'a mut R,
    memory: &'a mut Vec<u8>,
    /// Where the memory's first byte lies in the file.
    base: u64,
    length: usize,
    at: usize,
    finder: Finder<'static>,
}

impl<'a, R: ReadAt> Window<'a, R> {
    pub(super) fn new(file: &'a mut R, memory: &'a mut Vec<u8>, offset: u64) -> Result<Self, R::Error> {
        memory.resize(WINDOW_BYTES, 0);
        let finder = Finder::new(FROM_LINE);
        let mut window = Self { file, memory, base: offset, length: 0, at: 0, finder };
        window.have(FROM_LINE.len())?;
        Ok(window)
    }

    /// The place in the file.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Returns the bytes in memory from the place on.
    pub(super) fn rest(&self) -> &[u8] {
        &self.memory[self.at..self.length]
    }

    pub(super) fn step(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.length);
    }

    /// Reads more behind what is in memory, whose part before the place goes. Whether there was more, and room for it.
    pub(super) fn fill(&mut self) -> Result<bool, R::Error> {
        let kept_from = self.at.saturating_sub(KEPT_BYTES);
        if kept_from > 0 {
            self.memory.copy_within(kept_from..self.length, 0);
            self.base += kept_from as u64;
            self.length -= kept_from;
            self.at -= kept_from;
        }
        let offset = self.base + self.length as u64;
        // What would end beyond the last offset there is cannot be read.
        let most = (i64::MAX as u64).saturating_sub(offset);
        let room =
            self.memory.len().min(self.length.saturating_add(usize::try_from(most).unwrap_or(usize::MAX)));
        let read = self.file.read_at(offset, &mut self.memory[self.length..room])?;
        self.length += read;
        Ok(read > 0)
    }

    /// Has so many bytes from the place on in memory, or all there are.
    pub(super) fn have(&mut self, bytes: usize) -> Result<(), R::Error> {
        while self.length - self.at < bytes && self.fill()? {}
        Ok(())
    }

    /// Moves to a place anywhere in the file.
    pub(super) fn go_to(&mut self, offset: u64) -> Result<(), R::Error> {
        match offset.checked_sub(self.base).map(usize::try_from) {
            Some(Ok(at)) if at <= self.length => self.at = at,
            _ => {
                // With what stands before it, as if it had been walked to.
                let kept = offset.min(KEPT_BYTES as u64);
                (self.base, self.length, self.at) = (offset - kept, 0, 0);
                self.have(kept as usize)?;
                self.at = self.length.min(kept as usize);
            }
        }
        self.have(1)
    }

    pub(super) fn is_at_end(&mut self) -> Result<bool, R::Error> {
        self.have(1)?;
        Ok(self.rest().is_empty())
    }

    pub(super) fn take_byte(&mut self) -> Result<Option<u8>, R::Error> {
        self.have(1)?;
        let byte = self.rest().first().copied();
        self.step(1);
        Ok(byte)
    }

    /// Walks over a line without anything in it, if one stands here.
    pub(super) fn take_empty_line(&mut self) -> Result<bool, R::Error> {
        self.have(2)?;
        let length = empty_line(self.rest());
        self.step(length);
        Ok(length > 0)
    }

    /// Walks over the rest of a line of any length.
    pub(super) fn skip_line(&mut self) -> Result<(), R::Error> {
        loop {
            match memchr(b'\n', self.rest()) {
                Some(length) => {
                    self.step(length + 1);
                    return Ok(());
                }
                None => {
                    self.at = self.length;
                    if !self.fill()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Returns true if the line before the place is empty, or there is none.
    pub(super) fn is_after_empty_line(&self) -> bool {
        let before = &self.memory[..self.at];
        match before {
            [] => self.base == 0,
            [b'\n'] | [b'\r', b'\n'] if self.base == 0 => true,
            _ => before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n"),
        }
    }

    /// Walks to the begin of the next line that starts with "From ", behind the place. Whether there is one.
    pub(super) fn find_from_line(&mut self) -> Result<bool, R::Error> {
        loop {
            if let Some(found) = self.finder.find(self.rest()) {
                self.step(found + 1);
                return Ok(true);
            }
            // The first bytes of one may stand at the end.
            self.at = self.at.max(self.length.saturating_sub(FROM_LINE.len() - 1));
            if !self.fill()? {
                self.at = self.length;
                return Ok(false);
            }
        }
    }
}

/// The bytes of a line end that stands at once, or 0.
fn empty_line(bytes: &[u8]) -> usize {
    match bytes {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}
