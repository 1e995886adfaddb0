//! Colours: the terminal's own sixteen, which suit light and dark themes, or none (NO_COLOR).

use ratatui::style::{Color, Modifier, Style};

/// How things are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    is_colored: bool,
}

impl Palette {
    pub(super) fn new() -> Self {
        Self { is_colored: command::output::stdout_style().is_colored }
    }

    fn colored(self, color: Color) -> Style {
        if self.is_colored { Style::new().fg(color) } else { Style::new() }
    }

    /// The parts of a bar: on CPU, run queue, block I/O, unrecorded, sleeping, undivided. The page has the same colours; red is for trouble.
    pub(super) fn parts(self) -> [(char, Style); 6] {
        [
            ('█', self.colored(Color::Blue)),
            ('▓', self.colored(Color::Yellow)),
            ('▒', self.colored(Color::Magenta)),
            ('~', self.faint()),
            ('·', self.faint()),
            ('─', self.faint()),
        ]
    }

    /// The letter of a cause that overlaps, over the part that it overlaps with.
    pub(super) fn mark(self) -> Style {
        if self.is_colored { Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD) } else { Style::new() }
    }

    pub(super) fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The column that rows are sorted by.
    pub(super) fn sorted(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED)
    }

    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn good(self) -> Style {
        self.colored(Color::Green)
    }

    pub(super) fn caution(self) -> Style {
        self.colored(Color::Yellow)
    }

    pub(super) fn bad(self) -> Style {
        self.colored(Color::Red)
    }

    /// By how much of a whole is taken.
    pub(super) fn load(self, share: f64) -> Style {
        match share {
            share if share >= 0.9 => self.bad(),
            share if share >= 0.7 => self.caution(),
            _ => self.good(),
        }
    }
}
