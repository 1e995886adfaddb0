//! Text of man pages: lines that are requests, lines that are text, and fonts.

/// Text as roff shows it unchanged.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}

/// The fonts that can lie within one another. Code is bold: a terminal has no other font for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Font {
    Bold,
    Italic,
}

/// The lines of a page.
#[derive(Default)]
pub(crate) struct Page {
    lines: String,
    fonts: Vec<Font>,
}

impl Page {
    /// A line such as `.PP`. Text that was begun ends before it.
    pub(crate) fn request(&mut self, line: &str) {
        self.end_line();
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Text within a line.
    pub(crate) fn text(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.lines.push('\n');
            }
            if line.is_empty() {
                continue;
            }
            // At the beginning of a line both of these would be requests.
            if self.is_at_start() && line.starts_with(['.', '\'']) {
                self.lines.push_str("\\&");
            }
            self.lines.push_str(&escaped(line));
        }
    }

    /// A space between two words of a paragraph, which may be broken there.
    pub(crate) fn space(&mut self) {
        if !self.is_at_start() {
            self.lines.push(' ');
        }
    }

    /// The following text is in this font.
    pub(crate) fn begin(&mut self, font: Font) {
        self.fonts.push(font);
        self.switch();
    }

    /// The following text is in the font of before.
    pub(crate) fn end(&mut self) {
        self.fonts.pop();
        self.switch();
    }

    fn switch(&mut self) {
        self.lines.push_str(match self.fonts.last() {
            Some(Font::Bold) => "\\fB",
            Some(Font::Italic) => "\\fI",
            None => "\\fR",
        });
    }

    /// Ends a line of text, if one was begun.
    pub(crate) fn end_line(&mut self) {
        if !self.is_at_start() {
            self.lines.push('\n');
        }
    }

    fn is_at_start(&self) -> bool {
        self.lines.is_empty() || self.lines.ends_with('\n')
    }

    /// What was written.
    pub(crate) fn into_lines(mut self) -> String {
        self.end_line();
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_request() {
        let mut page = Page::default();
        page.text(".so /etc/passwd\n'in it\na\\b -x");
        assert_eq!(page.into_lines(), "\\&.so /etc/passwd\n\\&\\(aqin it\na\\eb \\-x\n");
    }
}
