//! Colours on a terminal.

/// How text is decorated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour escape sequences are written.
    pub is_colored: bool,
}

/// The meaning of a coloured piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
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
    /// Appends what `write` appends, in the colour of `emphasis`. These are the terminal's own colours, so that they suit light and
    /// dark themes.
    pub fn paint_into(self, out: &mut String, emphasis: Emphasis, write: impl FnOnce(&mut String)) {
        if !self.is_colored {
            return write(out);
        }
        out.push_str(match emphasis {
            Emphasis::Good => "\x1b[32m",
            Emphasis::Caution => "\x1b[33m",
            Emphasis::Bad => "\x1b[31m",
            Emphasis::Faint => "\x1b[2m",
        });
        write(out);
        out.push_str("\x1b[0m");
    }
}
