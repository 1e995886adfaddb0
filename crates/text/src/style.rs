//! Colours on a terminal.

/// How text is decorated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colour escape sequences are written.
    pub is_colored: bool,
}

/// The meaning of a coloured piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All is well: green.
    Good,
    /// Needs attention: yellow.
    Caution,
    /// Needs action: red.
    Bad,
    /// Less important than its surroundings: dim.
    Faint,
}

impl Style {
    /// Appends what `write` appends, in the colour of `tone`. These are the terminal's own colours, so that they suit light and
    /// dark themes.
    pub fn paint_into(self, out: &mut String, tone: Tone, write: impl FnOnce(&mut String)) {
        if !self.is_colored {
            return write(out);
        }
        out.push_str(match tone {
            Tone::Good => "\x1b[32m",
            Tone::Caution => "\x1b[33m",
            Tone::Bad => "\x1b[31m",
            Tone::Faint => "\x1b[2m",
        });
        write(out);
        out.push_str("\x1b[0m");
    }
}
