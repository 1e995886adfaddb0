//! A line of text, in colours on a terminal.

use crate::{Block, Color, LineOutput, LineStyle, Theme, Tone, shown};
use command::failure::Failure;
use command::output::stdout_style;
use text::style::{Emphasis, Style};

/// Blocks with separators between them.
pub(super) struct Plain {
    style: Style,
    text: String,
}

impl Plain {
    pub(super) fn new() -> Self {
        Self { style: stdout_style(), text: String::new() }
    }

    /// The theme's colours where one was chosen, else those of the terminal, which suit its background.
    fn push_block(&mut self, block: &Block, style: &LineStyle) {
        let shade = match block.tone {
            Tone::Normal => None,
            Tone::Good => Some(Emphasis::Good),
            Tone::Warning => Some(Emphasis::Caution),
            Tone::Urgent => Some(Emphasis::Bad),
        };
        let own =
            block.color.or(if style.theme == Theme::default() { None } else { style.theme.color(block) });
        match (own, shade) {
            (Some(color), _) => push_colored(&mut self.text, color, &block.text),
            (None, Some(shade)) => {
                self.style.paint_into(&mut self.text, shade, |text| text.push_str(&block.text));
            }
            (None, None) => self.text.push_str(&block.text),
        }
    }
}

fn push_plain(blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) {
    for (index, block) in shown(blocks).enumerate() {
        if index > 0 {
            out.extend_from_slice(style.separator.as_bytes());
        }
        out.extend_from_slice(block.text.as_bytes());
    }
    out.push(b'\n');
}

fn push_colored(out: &mut String, color: Color, text: &str) {
    use std::fmt::Write as _;
    let [red, green, blue, _] = color.0;
    // A String takes whatever is written to it.
    let _ = write!(out, "\x1b[38;2;{red};{green};{blue}m{text}\x1b[0m");
}

impl LineOutput for Plain {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        if !self.style.is_colored {
            push_plain(blocks, style, out);
            return Ok(());
        }
        self.text.clear();
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                self.text.push_str(&style.separator);
            }
            self.push_block(block, style);
        }
        out.extend_from_slice(self.text.as_bytes());
        out.push(b'\n');
        Ok(())
    }
}
