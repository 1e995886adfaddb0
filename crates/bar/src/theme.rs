//! Colours.

use super::{Block, Color, Tone};

/// The colours of tones. `None` leaves a colour to the program that shows the bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Theme {
    pub(crate) foreground: Option<Color>,
    pub(crate) background: Option<Color>,
    pub(crate) good: Option<Color>,
    pub(crate) warning: Option<Color>,
    /// i3bar and swaybar have a look of their own for what is urgent, which this replaces.
    pub(crate) urgent: Option<Color>,
}

const fn rgb(hex: u32) -> Option<Color> {
    let [_, red, green, blue] = hex.to_be_bytes();
    Some(formats::i3bar::Hex([red, green, blue, u8::MAX]))
}

const fn theme(foreground: u32, background: u32, good: u32, warning: u32, urgent: u32) -> Theme {
    Theme {
        foreground: rgb(foreground),
        background: rgb(background),
        good: rgb(good),
        warning: rgb(warning),
        urgent: rgb(urgent),
    }
}

/// The themes there are.
pub(crate) const THEMES: [(&str, Theme); 8] = [
    ("plain", Theme { foreground: None, background: None, good: None, warning: rgb(0xe0a000), urgent: None }),
    ("mono", Theme { foreground: None, background: None, good: None, warning: None, urgent: None }),
    (
        "i3status",
        Theme {
            foreground: None,
            background: None,
            good: rgb(0x00ff00),
            warning: rgb(0xffff00),
            urgent: rgb(0xff0000),
        },
    ),
    ("solarized-dark", theme(0x93a1a1, 0x002b36, 0x859900, 0xb58900, 0xdc322f)),
    ("solarized-light", theme(0x586e75, 0xfdf6e3, 0x859900, 0xb58900, 0xdc322f)),
    ("gruvbox-dark", theme(0xebdbb2, 0x282828, 0xb8bb26, 0xfabd2f, 0xfb4934)),
    ("nord", theme(0xd8dee9, 0x2e3440, 0xa3be8c, 0xebcb8b, 0xbf616a)),
    ("dracula", theme(0xf8f8f2, 0x282a36, 0x50fa7b, 0xf1fa8c, 0xff5555)),
];

impl Default for Theme {
    fn default() -> Self {
        THEMES[0].1
    }
}

impl Theme {
    /// The colour of a block's text.
    pub(crate) fn color(&self, block: &Block) -> Option<Color> {
        let of_tone = match block.tone {
            Tone::Normal => None,
            Tone::Good => self.good,
            Tone::Warning => self.warning,
            Tone::Urgent => self.urgent,
        };
        block.color.or(of_tone).or(self.foreground)
    }

    /// The colour behind it.
    pub(crate) fn background(&self, block: &Block) -> Option<Color> {
        block.background.or(self.background)
    }
}
