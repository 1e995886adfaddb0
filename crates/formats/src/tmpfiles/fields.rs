//! The fields of a line.

/// A column, from 0, and what is wrong there.
pub(super) type Wrong = (usize, String);

/// Words between blanks. Quotes keep blanks, and a backslash keeps the byte behind it, whatever it is.
pub(super) struct Fields<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    fn skip_blanks(&mut self) {
        let rest = &self.line.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }

    /// The next field and where it begins.
    pub(super) fn next(&mut self) -> Result<Option<(usize, String)>, Wrong> {
        self.skip_blanks();
        let bytes = self.line.as_bytes();
        let start = self.at;
        let mut word = Vec::new();
        let mut quote = None;
        while let Some(byte) = bytes.get(self.at) {
            self.at += 1;
            match (*byte, quote) {
                (byte, Some(open)) if byte == open => quote = None,
                (b'"' | b'\'', None) => quote = Some(*byte),
                (b'\\', _) => match bytes.get(self.at) {
                    Some(quoted) => {
                        word.push(*quoted);
                        self.at += 1;
                    }
                    None => return Err((self.at - 1, "a backslash at the end".to_owned())),
                },
                (b' ' | b'\t', None) => break,
                (byte, _) => word.push(byte),
            }
        }
        if quote.is_some() {
            return Err((start, "a quote that is not closed".to_owned()));
        }
        if start == bytes.len() {
            return Ok(None);
        }
        let word = String::from_utf8(word).map_err(|_| (start, "is not UTF-8".to_owned()))?;
        Ok(Some((start, word)))
    }

    /// Returns the rest of the line, as it is.
    pub(super) fn rest(&mut self) -> &'a str {
        self.skip_blanks();
        self.line[self.at..].trim_end_matches([' ', '\t'])
    }
}
