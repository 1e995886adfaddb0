//! Colour on a terminal, unless NO_COLOR is set to something.

use std::io::IsTerminal;

/// Whether escape sequences may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) is_colored: bool,
}

/// What a stretch of text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Caution,
    Bad,
    Faint,
}

impl Style {
    /// For standard output; see no-color.org.
    pub(crate) fn for_stdout() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self { is_colored: !no_color && !is_dumb && std::io::stdout().is_terminal() }
    }

    /// Appends what `write` appends, in the colour of its tone: the terminal's own colours, which suit light and dark
    /// themes.
    pub(crate) fn paint_into(self, out: &mut String, tone: Tone, write: impl FnOnce(&mut String)) {
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
