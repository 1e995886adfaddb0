//! Text from outside whit (names of tasks, devices, mounts), made safe for terminals and markup.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Appends bytes as text that is safe on a terminal. Replaces invalid UTF-8, control characters (escape sequences start with one)
/// and characters that change the direction of writing.
pub fn push_printable(out: &mut String, bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return push_printable_text(out, text);
    }
    for chunk in bytes.utf8_chunks() {
        out.extend(chunk.valid().chars().map(printable));
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Appends text that is safe on a terminal; see [`push_printable`].
pub fn push_printable_text(out: &mut String, text: &str) {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        out.push_str(text);
    } else {
        out.extend(text.chars().map(printable));
    }
}

/// Returns bytes as text that is safe on a terminal; see [`push_printable`].
pub fn printable_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    push_printable(&mut text, bytes);
    text
}

/// Paths, programs and words of a command line, made safe for a terminal.
pub trait Shown {
    /// Returns it as text that is safe on a terminal and stays on one line.
    fn shown(&self) -> String;
}

impl<T: AsRef<OsStr> + ?Sized> Shown for T {
    fn shown(&self) -> String {
        printable_text(self.as_ref().as_bytes())
    }
}

/// The line and column of a byte of a text. Both start at 1; the column counts characters.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..floor_boundary(text, offset)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (1 + before.matches('\n').count(), 1 + line.chars().count())
}

/// The last character boundary at or before `at`.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Appends text escaped for Pango markup and HTML.
pub fn push_markup_escaped(out: &mut String, text: &str) {
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
    fn control_characters_are_replaced() {
        let mut text = String::new();
        push_printable(&mut text, b"a\x1b[31mb\n\xffc\xe2\x80\xaed");
        assert_eq!(text, "a?[31mb?\u{fffd}c?d");
    }
}
