//! Text that others wrote: names of tasks, devices, mounts.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Appends bytes as text that is safe on a terminal: what is not UTF-8, controls (escape sequences start with one) and
/// what turns the direction of writing are replaced.
pub(crate) fn push_printable(out: &mut String, bytes: &[u8]) {
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if let (true, Ok(text)) = (is_plain, std::str::from_utf8(bytes)) {
        return out.push_str(text);
    }
    for chunk in bytes.utf8_chunks() {
        out.extend(chunk.valid().chars().map(printable));
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// The same as a text of its own: a path that is named on a terminal.
pub(crate) fn printable_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    push_printable(&mut text, bytes);
    text
}

/// Names that others gave: paths, programs, words of a command line.
pub(crate) trait Shown {
    /// As text that is safe on a terminal and stays on one line.
    fn shown(&self) -> String;
}

impl<T: AsRef<OsStr> + ?Sized> Shown for T {
    fn shown(&self) -> String {
        printable_text(self.as_ref().as_bytes())
    }
}

/// Where a byte of a text is: line and column from 1, the column in characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..floor_boundary(text, offset)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (1 + before.matches('\n').count(), 1 + line.chars().count())
}

/// The last place up to there at which a character begins, or the text ends.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Appends text where Pango's markup or HTML is read.
pub(crate) fn push_markup_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
}

fn printable(character: char) -> char {
    let turns = matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || turns { '?' } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_would_move_it() {
        let mut text = String::new();
        push_printable(&mut text, b"a\x1b[31mb\n\xffc\xe2\x80\xaed");
        assert_eq!(text, "a?[31mb?\u{fffd}c?d");
    }
}
