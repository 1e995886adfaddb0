//! Faults of a configuration: what is wrong, and where.

use std::ops::Range;

use text::printable::{floor_boundary, line_and_column};

/// A fault at some bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The bytes of the text that are wrong.
    pub span: Range<usize>,
    /// The message that says what is wrong, and what to write instead.
    pub message: String,
}

/// As much of a line as helps.
const MAX_LINE: usize = 120;

impl Fault {
    /// A fault at these bytes.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// Line and column, from 1, the column in characters.
    pub fn place(&self, text: &str) -> (usize, usize) {
        line_and_column(text, self.span.start)
    }

    /// The whole message: file, line, column, what is wrong, and the line with a mark below.
    pub fn in_text(&self, name: &str, text: &str) -> String {
        let (line, column) = self.place(text);
        let shown = text.lines().nth(line - 1).unwrap_or_default().replace('\t', " ");
        let end = floor_boundary(text, self.span.end.max(self.span.start));
        let marked = text[floor_boundary(text, self.span.start)..end].lines().next().unwrap_or_default();
        let width = marked.chars().count().max(1);
        let mut message = format!("{name}:{line}:{column}: {}", self.message);
        if !shown.is_empty() && shown.chars().count() <= MAX_LINE {
            let (number, before) = (line.to_string(), " ".repeat(column - 1));
            message.push_str(&format!(
                "\n{number} | {shown}\n{:width$} | {before}{}",
                "",
                "^".repeat(width),
                width = number.len()
            ));
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_survive_any_span() {
        let text = "a = 1\nß = \"x\"\n";
        let fault = |span| Fault::new(span, "bad");
        assert_eq!(fault(9..10).place(text), (2, 3));
        assert_eq!(fault(11..14).in_text("f", text), "f:2:5: bad\n2 | ß = \"x\"\n  |     ^^^");
        for start in 0..20 {
            fault(start..start + 3).in_text("f", text);
            fault(start..0).in_text("f", text);
        }
        assert_eq!(fault(0..0).in_text("f", ""), "f:1:1: bad");
    }
}
